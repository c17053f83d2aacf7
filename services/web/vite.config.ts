// Builds the browser client into dist/, which the api serves; `npm run dev` proxies to an api on its usual port.
import { defineConfig } from 'vite';

const API = 'http://127.0.0.1:3000';

export default defineConfig({
  build: {
    // Browsers with light-dark() and CSS nesting, so that neither is rewritten.
    target: ['chrome123', 'firefox125', 'safari17.5'],
    // Nothing is inlined: the page's content security policy allows files of its own origin only.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  server: {
    proxy: {
      // Under the page's own name, so that its origin and its cookie are those of the api.
      '/api': { target: API },
      '/ws': { target: API, ws: true },
    },
  },
});
