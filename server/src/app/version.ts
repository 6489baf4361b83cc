import { readFileSync } from 'node:fs'

/** From the package itself, two folders up in the checkout and once compiled. */
const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string
}

export const VERSION: string = version
