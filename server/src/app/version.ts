import { readFileSync } from 'node:fs'

/** Read from package.json, which is two folders up both in the checkout and once compiled. */
const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string
}

export const VERSION: string = version
