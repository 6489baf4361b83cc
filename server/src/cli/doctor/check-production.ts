import { SAMPLE_PROJECT } from '../../app/first-start.ts'
import { addressMatcher, parseRange } from '../../platform/addresses.ts'
import type { Config, Environment } from '../../platform/config/index.ts'
import { KEY_ADVICE } from '../../platform/encryption-key.ts'
import { type Finding, failed, unknown, unlessDefault, warning, well } from './check.ts'
import type { StoreExamined } from './check-store.ts'

/**
 * What is fine on a laptop and not where real clients come. With `encryption` and `proxies`, which are always looked at,
 * these are the ticks of "Before production" in the README, in its order.
 */
export const checkProduction = (config: Config, env: Environment, store: StoreExamined): Finding[] => [
  publicUrl(config),
  unlessDefault(management(config), env, ['JETON_HOST', 'JETON_MANAGEMENT_PORT', 'JETON_MANAGEMENT_ALLOW']),
  operators(store),
  sample(store),
  engine(config),
  unlessDefault(webhooks(config), env, ['JETON_WEBHOOK_ALLOW']),
  backup(),
  alerts(),
  unlessDefault(logLevel(config), env, ['JETON_LOG_LEVEL']),
]

function engine(config: Config): Finding {
  if (config.JETON_DATABASE_URL) return well('engine', 'PostgreSQL')
  return warning(
    'engine',
    'SQLite: one machine, and what is lost with the disk is lost',
    'for more than one machine: JETON_DATABASE_URL=postgres://…',
  )
}

function publicUrl({ JETON_PUBLIC_URL: url }: Config): Finding {
  if (url?.startsWith('https://')) return well('public url', url)
  const says = url
    ? `${url} is not https: secrets would cross the network in the clear`
    : 'JETON_PUBLIC_URL is not set in this shell: the OAuth metadata would name the listening address'
  return failed('public url', says, 'put TLS in front and set JETON_PUBLIC_URL=https://<your host>')
}

function management(config: Config): Finding {
  const everywhere = /^(0\.0\.0\.0|::)$/.test(config.JETON_HOST)
  const apart = config.JETON_MANAGEMENT_PORT !== undefined || config.JETON_MANAGEMENT_ALLOW.length > 0
  if (!everywhere || apart)
    return well('management', apart ? 'apart from the clients, or narrowed' : `only on ${config.JETON_HOST}`)
  return failed(
    'management',
    'every client that reaches the API also reaches /management',
    'JETON_MANAGEMENT_PORT=8081 behind your firewall\nor JETON_MANAGEMENT_ALLOW=<your networks>',
  )
}

/** The name that the first start gives. */
const FIRST = 'first'

const NO_STORE = 'the store could not be read'

function operators({ isSeen, operators: names }: StoreExamined): Finding {
  if (!isSeen) return unknown('operators', NO_STORE)
  if (!names.includes(FIRST))
    return well('operators', names.length > 0 ? names.join(', ') : 'none from a first start')
  return failed(
    'operators',
    'the operator of the first start is still there; its token was printed or saved on this machine',
    `jeton operator create --name admin, then jeton login with it,\nthen jeton operator delete ${FIRST}`,
  )
}

function sample({ isSeen, hasSample }: StoreExamined): Finding {
  if (!isSeen) return unknown('sample', NO_STORE)
  if (!hasSample) return well('sample', 'its project is not there')
  return failed(
    'sample',
    `project ${SAMPLE_PROJECT} is there, with a key that the first start printed`,
    `jeton project delete ${SAMPLE_PROJECT}`,
  )
}

/** Where a webhook would reach what only this machine should: itself, and what clouds keep credentials at. */
const OWN = ['127.0.0.1', '::1', '169.254.169.254', 'fd00:ec2::254']

function webhooks({ JETON_WEBHOOK_ALLOW: allowed }: Config): Finding {
  if (allowed.length === 0) return well('webhooks', 'sent to public addresses only')
  const risky = allowed.find((entry) => parseRange(entry)?.bits === 0 || OWN.some(addressMatcher([entry])))
  if (!risky) return well('webhooks', `sent to public addresses and ${allowed.join(', ')}`)
  return failed(
    'webhooks',
    `JETON_WEBHOOK_ALLOW has ${risky}: whoever sets a webhook reaches what only this machine should`,
    'JETON_WEBHOOK_ALLOW=<the networks of your receivers>',
  )
}

const backup = (): Finding =>
  unknown(
    'backup',
    `not checked: Jeton cannot see your backups. Restore one once. ${KEY_ADVICE}`,
    'jeton backup jeton-$(date +%F).backup',
  )

const alerts = (): Finding =>
  unknown(
    'alerts',
    'not checked: Jeton cannot see who watches /metrics and /health/ready. Route alerts to on-call',
    'deploy/prometheus-alerts.yaml has rules; see docs/operate/monitor.md',
  )

function logLevel({ JETON_LOG_LEVEL: level }: Config): Finding {
  if (level !== 'debug' && level !== 'trace') return well('log level', level)
  return failed('log level', `${level} writes a line for every request`, 'JETON_LOG_LEVEL=info')
}
