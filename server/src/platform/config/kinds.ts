import { resolve } from 'node:path'
import { parseRange } from '../addresses.ts'
import { parseKeys } from '../encryption-key.ts'

/** Parser of a kind of setting. `parse` throws an Error whose message completes "JETON_X: …". */
export interface Kind<T> {
  readonly name: string
  parse(text: string): T
}

const fail = (message: string): never => {
  throw new Error(message)
}

const quoted = (text: string): string => JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text)

export const text = (rule?: { pattern: RegExp; says: string }): Kind<string> => ({
  name: 'text',
  parse: (value) => (rule && !rule.pattern.test(value) ? fail(rule.says) : value),
})

export const integer = (min: number, max: number): Kind<number> => ({
  name: `whole number, ${min} to ${max}`,
  parse: (value) => {
    const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN
    return number >= min && number <= max
      ? number
      : fail(`${quoted(value)} is not a whole number from ${min} to ${max}.`)
  },
})

export const choice = <const T extends string>(values: readonly T[]): Kind<T> => ({
  name: values.join(', '),
  parse: (value) =>
    values.find((v) => v === value) ?? fail(`${quoted(value)} is not one of: ${values.join(', ')}.`),
})

export const folder: Kind<string> = { name: 'folder', parse: (value) => resolve(value) }

/** Comma-separated addresses and CIDR ranges; may be empty. */
export const ranges: Kind<readonly string[]> = {
  name: 'addresses and CIDR ranges, separated by commas',
  parse: (value) => {
    const entries = value.split(',').map((entry) => entry.trim())
    if (entries.length === 1 && entries[0] === '') return []
    entries.forEach((entry, i) => {
      if (!parseRange(entry))
        fail(`${quoted(entry)} is not an address or range (entry ${i + 1} of ${entries.length}).`)
    })
    return entries
  },
}

/** Kept as text and parsed where it is used, so that nothing can print it by accident. */
export const encryptionKey: Kind<string> = {
  name: '32 bytes in base64, or several separated by commas',
  parse: (value) =>
    parseKeys(value)
      ? value
      : fail('it must be 32 bytes in base64. Create one with: openssl rand -base64 32'),
}

export const webAddress: Kind<string> = {
  name: 'http(s) address',
  parse: (value) => {
    const url = URL.canParse(value)
      ? new URL(value)
      : fail(`${quoted(value)} is not a web address such as https://jeton.example.`)
    if (url.protocol !== 'http:' && url.protocol !== 'https:') fail('it must start with https:// or http://.')
    if (url.search || url.hash || url.username || url.password)
      fail('it must have no query, fragment or user name.')
    return url.href.replace(/\/+$/, '')
  },
}

/** Not parsed as a URL: several hosts for failover (`postgres://u:p@a:5432,b:5432/db`) are not a valid URL. */
export const databaseAddress: Kind<string> = {
  name: 'postgres:// address',
  parse: (value) =>
    /^postgres(ql)?:\/\/[^\s/]+\/[^\s/?]+(\?\S*)?$/.test(value)
      ? value
      : fail(
          'it must look like postgres://user:password@host:5432/database. Leave it unset for the embedded SQLite.',
        ),
}
