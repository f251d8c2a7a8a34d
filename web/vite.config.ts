import { defineConfig } from "vite";

// The build is committed to the Python package, so that the wheel contains it and only changes to it need Node.
export default defineConfig({
  base: "/",
  build: {
    outDir: "../src/thinkback/web/dist",
    emptyOutDir: true,
    target: "es2022",
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0, // no data: URLs, so that the content security policy needs no exception
    reportCompressedSize: true,
  },
  server: {
    proxy: { "/v1": "http://127.0.0.1:8765" },
  },
});
