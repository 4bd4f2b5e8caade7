npm install steadfetch
