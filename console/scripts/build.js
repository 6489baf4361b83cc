/**
 * Builds the console into `console/dist`. Runs at `npm ci` (prepare), where Vite may be missing: `npm ci --omit=dev` then
 * still works, and `/console/` says how to build it. Plain JavaScript, because any Node may run it.
 */
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

async function loadVite() {
  try {
    return await import('vite')
  } catch (error) {
    if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error
    return undefined
  }
}

// Without this, a test or a development shell would bundle React's development build, which is twice as large.
process.env.NODE_ENV = 'production'
const vite = await loadVite()
if (vite) await vite.build({ root, logLevel: 'warn' })
else process.stdout.write('The console was not built, because Vite is not installed. To build it: npm ci\n')
