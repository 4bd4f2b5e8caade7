npx esbuild main.js --bundle --format=esm --minify --charset=utf8 --splitting --outdir=bundle
