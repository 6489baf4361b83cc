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
 * Every setting, declared once. Validation, `docs/reference/settings.md` and `jeton config` come from this table. A new
 * setting needs a row here and the line that passes it on.
 */
interface Setting<T> {
  readonly kind: Kind<T>
  /** Default value as text; absent means "not set". */
  readonly fallback?: string
  readonly says: string
  /** Masked by `jeton config`. */
  readonly secret?: true
  /** Used by the command line, not by the service. */
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
    says: 'Address to listen on. `0.0.0.0` listens on all addresses.',
  }),
  JETON_PORT: required({
    kind: integer(0, 65535),
    fallback: '8080',
    says: 'Port to listen on. `0` takes a free port.',
  }),
  JETON_WORKERS: required({
    kind: integer(1, 64),
    fallback: '1',
    says: 'Number of HTTP processes that `jeton serve` runs on one port (Linux). Use one per core. A process that dies is replaced.',
  }),
  JETON_PUBLIC_URL: optional({
    kind: webAddress,
    says: 'Address at which clients reach the service: the OAuth `issuer` and the base of links. Default: the listening address.',
  }),
  JETON_DATABASE_URL: optional({
    kind: databaseAddress,
    secret: true,
    says: 'PostgreSQL database (15 or newer), `postgres://user:password@host:5432/database`. Several hosts, separated by commas, allow failover. Default: SQLite in `JETON_DATA_DIR`.',
  }),
  JETON_DATABASE_POOL: required({
    kind: integer(2, 200),
    fallback: '10',
    says: 'Maximum number of PostgreSQL connections per process. One more listens for changes. Each process of `JETON_WORKERS` has its own pool.',
  }),
  JETON_DATA_DIR: required({
    kind: folder,
    fallback: './data',
    says: 'Folder of the SQLite database. It is created if it does not exist.',
  }),
  JETON_ENCRYPTION_KEY: optional({
    kind: encryptionKey,
    secret: true,
    says: `Encrypts the secrets of webhooks and the values of their headers. It must be the same for every process. To replace it, set the new key, a comma and the old key: the first encrypts, all of them decrypt. Default with SQLite: the file \`encryption.key\` in \`JETON_DATA_DIR\`, created at the first start. With PostgreSQL, webhooks cannot be created until it is set. Jeton does not start without a key on a database that holds encrypted secrets. ${KEY_ADVICE}`,
  }),
  JETON_MANAGEMENT_ID: optional({
    kind: text({
      pattern: /^[A-Za-z0-9_.@-]{1,64}$/,
      says: 'it must be 1 to 64 characters of A-Z a-z 0-9 _ . @ -.',
    }),
    says: 'Id of the first operator (`X-Management-Id`). Set it together with `JETON_MANAGEMENT_TOKEN`. The command line uses both as well.',
  }),
  JETON_MANAGEMENT_TOKEN: optional({
    kind: text({
      pattern: /^[\x21-\x7e]{32,256}$/,
      says: 'it must be 32 to 256 printable characters without spaces. Create one with: openssl rand -base64 48',
    }),
    secret: true,
    says: 'Token of the first operator, at least 32 characters. A changed value replaces the stored one.',
  }),
  JETON_MANAGEMENT_PORT: optional({
    kind: integer(0, 65535),
    says: 'Separate port for `/management`, `/console`, `/metrics`, `/docs` and `/openapi.json`. Default: they share `JETON_PORT`.',
  }),
  JETON_MANAGEMENT_ALLOW: required({
    kind: ranges,
    fallback: '',
    says: 'Addresses that may reach `/management`, `/console`, `/metrics`, `/docs` and `/openapi.json`. Empty: all. `/management` always requires a credential, and the files of `/console` none. The others require one if `JETON_MANAGEMENT_PORT` is not set and `JETON_HOST` is not a loopback address.',
  }),
  JETON_CONSOLE: required({
    kind: choice(['on', 'off']),
    fallback: 'on',
    says: 'Whether the web console is at `/console/`, on the port of `/management`.',
  }),
  JETON_METRICS_PUBLIC: required({
    kind: choice(['on', 'off']),
    fallback: 'off',
    says: '`on`: `/metrics` never requires a credential. `JETON_MANAGEMENT_ALLOW` and `JETON_MANAGEMENT_PORT` still apply.',
  }),
  JETON_TRUSTED_PROXIES: required({
    kind: ranges,
    fallback: '',
    says: 'Proxies whose `X-Forwarded-For` is trusted. Otherwise the address of the socket counts, and IP allowlists see the proxy.',
  }),
  JETON_WEBHOOK_ALLOW: required({
    kind: ranges,
    fallback: '',
    says: 'Addresses outside the public internet that webhooks may be sent to: private networks, or `127.0.0.0/8` for development. Plain `http` is allowed only there.',
  }),
  JETON_NOTICE_URL: optional({
    kind: text({
      pattern: /^https?:\/\/\S+$/i,
      says: 'it must be a web address such as https://hooks.example.com/jeton.',
    }),
    secret: true,
    says: 'Where Jeton reports problems and their end, as signed Standard Webhooks that chat tools show as text. Set it together with `JETON_NOTICE_SECRET`. The rules of webhook targets apply, including `JETON_WEBHOOK_ALLOW`.',
  }),
  JETON_NOTICE_SECRET: optional({
    kind: text({
      pattern: /^whsec_(?:[A-Za-z0-9+/]{4}){8,21}(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/,
      says: 'it must be whsec_ and 24 to 64 bytes in base64. Create one with: echo "whsec_$(openssl rand -base64 32)"',
    }),
    secret: true,
    says: 'Signs the notices. Create one with: `echo "whsec_$(openssl rand -base64 32)"`.',
  }),
  JETON_RETENTION_DAYS: required({
    kind: integer(1, 3650),
    fallback: '90',
    says: 'Days for which events, deliveries and publications are kept, counted from when a delivery was delivered or exhausted. Deliveries that are still to be sent are kept with their events.',
  }),
  JETON_CACHE_TOKENS: required({
    kind: integer(1_000, 10_000_000),
    fallback: '100000',
    says: 'Maximum number of tokens that one process caches, about 350 bytes each.',
  }),
  JETON_FAST_PATH: required({
    kind: choice(['on', 'off']),
    fallback: 'on',
    says: 'Whether Jeton parses simple requests to issue, introspect and authorize itself. `off`: Node.js parses every request; responses are the same and take about twice the processor time.',
  }),
  JETON_LOG_LEVEL: required({
    kind: choice(LOG_LEVELS),
    fallback: 'info',
    says: 'Minimum log level. Requests are logged at `info` in a terminal and at `debug` as JSON. Use `/metrics` for request counts.',
  }),
  JETON_SAMPLE: required({
    kind: choice(['on', 'off']),
    fallback: 'on',
    says: 'Creates a sample project with an API key in an empty database. Only with SQLite on a loopback address.',
  }),
  OTEL_EXPORTER_OTLP_ENDPOINT: optional({
    kind: webAddress,
    says: 'OpenTelemetry collector that gets traces as OTLP over HTTP (protobuf), such as `http://collector:4318`. Without it nothing is traced, and no package of OpenTelemetry is loaded.',
  }),
  OTEL_EXPORTER_OTLP_HEADERS: optional({
    kind: text(),
    secret: true,
    says: 'Headers for the collector, `name=value` separated by commas.',
  }),
  OTEL_EXPORTER_OTLP_PROTOCOL: optional({
    kind: text(),
    says: 'Traces are always sent as `http/protobuf`. Jeton logs a warning for another value.',
  }),
  OTEL_SERVICE_NAME: optional({
    kind: text(),
    says: 'Name of the service in traces. Default: `jeton`.',
  }),
  OTEL_RESOURCE_ATTRIBUTES: optional({
    kind: text(),
    says: 'Attributes of all traces, `name=value` separated by commas.',
  }),
  OTEL_TRACES_SAMPLER: optional({
    kind: text(),
    says: 'Which traces are exported: `always_on`, `always_off`, `traceidratio`, or one of these with `parentbased_` before it, which follows the decision of the caller. Default: `parentbased_always_on`.',
  }),
  OTEL_TRACES_SAMPLER_ARG: optional({
    kind: text(),
    says: 'Fraction for `traceidratio`, from 0 to 1. Default: 1.',
  }),
  JETON_URL: optional({
    kind: webAddress,
    client: true,
    says: 'Address of the management API. Default: the server in the profile, which the first start or `jeton login` saves, else http://127.0.0.1:8080.',
  }),
  JETON_PROJECT: optional({
    kind: text(),
    client: true,
    says: 'Project (id or name). Default: the project in the profile, else the only project.',
  }),
} as const

export type SettingName = keyof typeof SETTINGS

type ValueOf<S> = S extends { kind: Kind<infer T>; fallback: string }
  ? T
  : S extends { kind: Kind<infer T> }
    ? T | undefined
    : never

/** Effective values by variable name. */
export type Config = { readonly [Name in SettingName]: ValueOf<(typeof SETTINGS)[Name]> }
