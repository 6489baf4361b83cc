// The entry `jeton/testing`: the sources in a checkout, the compiled files in a package.
import { existsSync } from 'node:fs'

const sources = new URL('../src/app/testing/start-test-server.ts', import.meta.url)
const compiled = new URL('../dist/app/testing/start-test-server.js', import.meta.url)

export const { startTestServer } = await import(existsSync(sources) ? sources.href : compiled.href)
