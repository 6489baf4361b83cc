import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'

/** A running service for `npm run dev -w console`. */
const server = process.env.JETON_URL ?? 'http://127.0.0.1:8080'

/** The console is in English, so the other 30 languages of React Aria stay out of it. */
const english: Plugin = {
  name: 'english-only',
  enforce: 'pre',
  load: (id) =>
    /react-aria.*\/intl\/.*\/(?!en-US)[a-z]{2}-[A-Z]{2}\.m?js$/.test(id) ? 'export default undefined' : null,
}

export default defineConfig({
  base: '/console/',
  plugins: [react(), english],
  build: {
    target: ['chrome123', 'firefox121', 'safari17.5'],
    modulePreload: { polyfill: false },
    // Licences of all bundled packages, for the npm package.
    license: { fileName: 'third-party-licences.md' },
    // Everything is a file of its own: the content security policy allows no inline script.
    assetsInlineLimit: 0,
  },
  server: {
    host: '127.0.0.1',
    proxy: Object.fromEntries(
      ['/management', '/docs', '/openapi.json', '/favicon.ico'].map((path) => [path, { target: server }]),
    ),
  },
})
