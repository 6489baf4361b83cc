import { KEY_ADVICE } from '../encryption-key.ts'
import { LOG_LEVELS } from '../log.ts'
import {
  choice,
  databaseAddress,
  encryptionKey,
  folder,
  integer,
  type Kind,
  ranges,
  text,
  webAddress,
} from './kinds.ts'

/**
 * Every setting, declared once. Validation, `docs/configuration.md` and `jeton config` come from this table; adding a
 * setting is a row here and the line that passes it on.
 */
interface Setting<T> {
  readonly kind: Kind<T>
  /** As one would write it; absent means "not set". */
  readonly fallback?: string
  readonly says: string
  /** Never shown: `jeton config` masks it. */
  readonly secret?: true
  /** Read by the command line, not by the service. */
  readonly client?: true
}

const required = <T>(setting: Setting<T> & { fallback: string }) => setting
const optional = <T>(setting: Setting<T> & { fallback?: never }) => setting

export const SETTINGS = {
  JETON_HOST: required({
    kind: text({
      pattern: /^[A-Za-z0-9.:-]+$/,
      says: 'it must be an address or host name, such as 127.0.0.1 or 0.0.0.0.',
    }),
    fallback: '127.0.0.1',
    says: 'Address to listen on. `0.0.0.0` listens on all.',
  }),
  JETON_PORT: required({
    kind: integer(0, 65535),
    fallback: '8080',
    says: 'Port to listen on; `0` takes a free one.',
  }),
  JETON_WORKERS: required({
    kind: integer(1, 64),
    fallback: '1',
    says: 'Processes that `jeton serve` runs on one port (Linux): one for each processor that it may use. They share limits, blocks and the store as processes on several machines do; one that dies is replaced.',
  }),
  JETON_PUBLIC_URL: optional({
    kind: webAddress,
    says: 'Address under which clients reach the service: the `issuer` of the OAuth metadata and the base of links. Unset: the listening address.',
  }),
  JETON_DATABASE_URL: optional({
    kind: databaseAddress,
    secret: true,
    says: 'PostgreSQL to use (15 or newer), `postgres://user:password@host:5432/database`; several hosts, separated by commas, for failover. Unset: SQLite in `JETON_DATA_DIR`.',
  }),
  JETON_DATABASE_POOL: required({
    kind: integer(2, 200),
    fallback: '10',
    says: 'Most connections to PostgreSQL that one process opens (one more listens for changes). Every worker of `JETON_WORKERS` is a process: together they open up to workers × (this + 1).',
  }),
  JETON_DATA_DIR: required({
    kind: folder,
    fallback: './data',
    says: 'Folder of the embedded database. It is made if it does not exist.',
  }),
  JETON_ENCRYPTION_KEY: optional({
    kind: encryptionKey,
    secret: true,
    says: `Encrypts what Jeton must use again: secrets of webhooks, values of their headers. The same for every process. While it is replaced, the new key, a comma, the old one: the first encrypts, all of them decrypt. Unset: with SQLite the file \`encryption.key\` in \`JETON_DATA_DIR\`, made at the first start; with PostgreSQL webhooks cannot be created until it is set. A store that holds encrypted secrets does not start without a key. ${KEY_ADVICE}`,
  }),
  JETON_MANAGEMENT_ID: optional({
    kind: text({
      pattern: /^[A-Za-z0-9_.@-]{1,64}$/,
      says: 'it must be 1 to 64 characters of A-Z a-z 0-9 _ . @ -.',
    }),
    says: 'Id of the first operator (`X-Management-Id`). Set it together with `JETON_MANAGEMENT_TOKEN`. The command line uses the same two.',
  }),
  JETON_MANAGEMENT_TOKEN: optional({
    kind: text({
      pattern: /^[\x21-\x7e]{32,256}$/,
      says: 'it must be 32 to 256 printable characters without spaces. One can be made with: openssl rand -base64 48',
    }),
    secret: true,
    says: 'Token of the first operator, at least 32 characters. A changed value replaces the one in the store.',
  }),
  JETON_MANAGEMENT_PORT: optional({
    kind: integer(0, 65535),
    says: 'Moves `/management`, `/metrics`, `/docs` and `/openapi.json` to a listener of their own on this port. Unset: they share `JETON_PORT`.',
  }),
  JETON_MANAGEMENT_ALLOW: required({
    kind: ranges,
    fallback: '',
    says: "Who may reach `/management`, `/metrics`, `/docs` and `/openapi.json`, by the caller's address. Empty: everyone. `/management` requires a credential all the same; so do the others if `JETON_MANAGEMENT_PORT` is not set either and `JETON_HOST` is not a loopback address.",
  }),
  JETON_METRICS_PUBLIC: required({
    kind: choice(['on', 'off']),
    fallback: 'off',
    says: "`on`: `/metrics` requires no operator's credential on any address. `JETON_MANAGEMENT_ALLOW` and `JETON_MANAGEMENT_PORT` apply all the same.",
  }),
  JETON_TRUSTED_PROXIES: required({
    kind: ranges,
    fallback: '',
    says: 'Proxies whose `X-Forwarded-For` is believed. Without it the address of the socket counts, and IP whitelists see the proxy.',
  }),
  JETON_WEBHOOK_ALLOW: required({
    kind: ranges,
    fallback: '',
    says: 'Where webhooks may be sent beside the public internet: private networks, or `127.0.0.0/8` for development. Plain `http` goes only there.',
  }),
  JETON_RETENTION_DAYS: required({
    kind: integer(1, 3650),
    fallback: '90',
    says: 'How many days events, deliveries and publications stay on record; a delivery counts from when it was delivered or given up. What is still to be sent stays, and its event with it.',
  }),
  JETON_CACHE_TOKENS: required({
    kind: integer(1_000, 10_000_000),
    fallback: '100000',
    says: 'Tokens that one process keeps in memory, to answer without asking the store. A token takes about 350 bytes.',
  }),
  JETON_LOG_LEVEL: required({
    kind: choice(LOG_LEVELS),
    fallback: 'info',
    says: 'Least level that is logged. In a terminal every request has a line at `info`; as JSON only at `debug`, since `/metrics` counts them for less.',
  }),
  JETON_SAMPLE: required({
    kind: choice(['on', 'off']),
    fallback: 'on',
    says: 'Whether an empty store gets a sample project with an API key. Only ever with SQLite on a loopback address.',
  }),
  JETON_URL: optional({
    kind: webAddress,
    client: true,
    says: 'Where the command line finds the management API. Unset: the default server of the profile, which the first start or `jeton login` saved, else http://127.0.0.1:8080.',
  }),
  JETON_PROJECT: optional({
    kind: text(),
    client: true,
    says: 'Project (id or name) that the command line works on. Unset: the default of the profile, else the only one there is.',
  }),
} as const

export type SettingName = keyof typeof SETTINGS

type ValueOf<S> = S extends { kind: Kind<infer T>; fallback: string }
  ? T
  : S extends { kind: Kind<infer T> }
    ? T | undefined
    : never

/** The effective values, by the names of the variables: one spelling from the environment to the code. */
export type Config = { readonly [Name in SettingName]: ValueOf<(typeof SETTINGS)[Name]> }
