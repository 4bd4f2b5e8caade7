npm start   # sets up, builds, and serves the demo at http://127.0.0.1:8080/ or the next free port
npm test    # sets up, builds, and runs every check and test
