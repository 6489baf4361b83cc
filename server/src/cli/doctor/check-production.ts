import type { Config } from '../../platform/config/index.ts'
import { sqliteFile } from '../store.ts'
import { type Finding, failed, warning, well } from './check.ts'
import type { StoreExamined } from './check-store.ts'

/** What is fine on a laptop and not where real clients come. */
export const checkProduction = (config: Config, store: StoreExamined): Finding[] => [
  engine(config),
  publicUrl(config),
  management(config),
  operators(store),
  logLevel(config),
]

function engine(config: Config): Finding {
  if (config.JETON_DATABASE_URL) return well('engine', 'PostgreSQL; back it up as you do your others')
  return warning(
    'engine',
    'SQLite: one machine, and what is lost with the disk is lost',
    `back it up every day: sqlite3 ${sqliteFile(config)} ".backup jeton-backup.db", or move to JETON_DATABASE_URL=postgres://…`,
  )
}

function publicUrl({ JETON_PUBLIC_URL: url }: Config): Finding {
  if (url?.startsWith('https://')) return well('public url', url)
  const says = url
    ? `${url} is not https: secrets would cross the network in the clear`
    : 'JETON_PUBLIC_URL is not set, so the OAuth metadata names the listening address'
  return failed('public url', says, 'put TLS in front and set JETON_PUBLIC_URL=https://<your host>')
}

function management(config: Config): Finding {
  const everywhere = /^(0\.0\.0\.0|::)$/.test(config.JETON_HOST)
  const apart = config.JETON_MANAGEMENT_PORT !== undefined || config.JETON_MANAGEMENT_ALLOW.length > 0
  if (!everywhere || apart)
    return well('management', apart ? 'apart from the clients, or narrowed' : `only on ${config.JETON_HOST}`)
  return failed(
    'management',
    'whoever reaches the API reaches /management, /metrics and /docs too',
    'JETON_MANAGEMENT_PORT=8081 behind your firewall, or JETON_MANAGEMENT_ALLOW=<your networks>',
  )
}

/** The name that the first start gives. */
const FIRST = 'first'

function operators({ operators: names }: StoreExamined): Finding {
  if (!names.includes(FIRST))
    return well('operators', names.length > 0 ? names.join(', ') : 'none from a first start')
  return failed(
    'operators',
    'the operator of the first start is still there; its token was printed or saved on this machine',
    `jeton operator create --name <you>, jeton login, then: jeton operator delete ${FIRST}`,
  )
}

function logLevel({ JETON_LOG_LEVEL: level }: Config): Finding {
  if (level !== 'debug' && level !== 'trace') return well('log level', level)
  return failed('log level', `${level} writes a line for every request`, 'JETON_LOG_LEVEL=info')
}
