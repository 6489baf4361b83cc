import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

/** A running service for `npm run dev -w console`. */
const server = process.env.JETON_URL ?? 'http://127.0.0.1:8080'

export default defineConfig({
  base: '/console/',
  plugins: [react()],
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
