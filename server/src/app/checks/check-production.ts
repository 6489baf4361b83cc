import { addressMatcher, isLoopbackHost, parseRange } from '../../platform/addresses.ts'
import type { Config } from '../../platform/config/index.ts'
import { KEY_ADVICE } from '../../platform/encryption-key.ts'
import { SAMPLE_PROJECT } from '../first-start.ts'
import type { StoreExamined } from './check-store.ts'
import { type Finding, failed, ok, unknown, warning } from './finding.ts'

/** Decides whether success may rest on these settings, which may be those of another process. */
export type Judge = (finding: Finding, settings: readonly string[]) => Finding

/**
 * Checks that matter in production only. With `encryption` and `proxies`, which are always checked, these are the rows of
 * "Before going live" in docs/operate/deploy.md, in its order.
 */
export const checkProduction = (config: Config, store: StoreExamined, judge: Judge): Finding[] => [
  publicUrl(config),
  judge(management(config), ['JETON_HOST', 'JETON_MANAGEMENT_PORT', 'JETON_MANAGEMENT_ALLOW']),
  operators(store),
  sample(store),
  engine(config),
  judge(webhooks(config), ['JETON_WEBHOOK_ALLOW']),
  backup(),
  alerts(),
  judge(logLevel(config), ['JETON_LOG_LEVEL']),
]

function engine(config: Config): Finding {
  if (config.JETON_DATABASE_URL) return ok('engine', 'PostgreSQL')
  return warning(
    'engine',
    'SQLite: one machine, and no replica if the disk fails',
    'for more than one machine: JETON_DATABASE_URL=postgres://…',
  )
}

function publicUrl({ JETON_PUBLIC_URL: url }: Config): Finding {
  if (url?.startsWith('https://')) return ok('public url', url)
  const says = url
    ? `${url} is not https: secrets would be sent in clear text`
    : 'JETON_PUBLIC_URL is not set: the OAuth metadata would have the listening address'
  return failed('public url', says, 'put TLS in front and set JETON_PUBLIC_URL=https://<your host>')
}

function management(config: Config): Finding {
  const isPublic = /^(0\.0\.0\.0|::)$/.test(config.JETON_HOST)
  const isSeparate = config.JETON_MANAGEMENT_PORT !== undefined || config.JETON_MANAGEMENT_ALLOW.length > 0
  if (!isPublic || isSeparate)
    return ok(
      'management',
      isSeparate ? 'separate port or restricted networks' : `only on ${config.JETON_HOST}`,
    )
  return failed(
    'management',
    'every client of the API can also reach /management',
    'JETON_MANAGEMENT_PORT=8081 behind your firewall\nor JETON_MANAGEMENT_ALLOW=<your networks>',
  )
}

/** Name of the operator that the first start creates. */
const FIRST = 'first'

const NO_STORE = 'the store cannot be read'

function operators({ isSeen, operators: names }: StoreExamined): Finding {
  if (!isSeen) return unknown('operators', NO_STORE)
  if (!names.includes(FIRST))
    return ok('operators', names.length > 0 ? names.join(', ') : 'none from the first start')
  return failed(
    'operators',
    'the operator of the first start still exists; its token was printed or saved on this machine',
    `jeton operator create --name admin, then jeton login with it,\nthen jeton operator delete ${FIRST}`,
  )
}

function sample({ isSeen, hasSample }: StoreExamined): Finding {
  if (!isSeen) return unknown('sample', NO_STORE)
  if (!hasSample) return ok('sample', 'the sample project does not exist')
  return failed(
    'sample',
    `project ${SAMPLE_PROJECT} exists, with a key that the first start printed`,
    `jeton project delete ${SAMPLE_PROJECT}`,
  )
}

/** Loopback and cloud metadata addresses, which webhooks must not reach. */
const INTERNAL = ['127.0.0.1', '::1', '169.254.169.254', 'fd00:ec2::254']

function webhooks({ JETON_WEBHOOK_ALLOW: allowed }: Config): Finding {
  if (allowed.length === 0) return ok('webhooks', 'sent to public addresses only')
  const risky = allowed.find(
    (entry) => parseRange(entry)?.bits === 0 || INTERNAL.some(addressMatcher([entry])),
  )
  if (!risky) return ok('webhooks', `sent to public addresses and ${allowed.join(', ')}`)
  return failed(
    'webhooks',
    `JETON_WEBHOOK_ALLOW has ${risky}: webhooks could reach loopback or cloud metadata endpoints`,
    'JETON_WEBHOOK_ALLOW=<the networks of your receivers>',
  )
}

const backup = (): Finding =>
  unknown(
    'backup',
    `not checked: Jeton cannot see your backups. Test a restore. ${KEY_ADVICE}`,
    'jeton backup jeton-$(date +%F).backup',
  )

const alerts = (): Finding =>
  unknown(
    'alerts',
    'not checked: Jeton cannot see who monitors /metrics and /health/ready. Route alerts to on-call',
    'deploy/prometheus/alerts.yaml has rules; see docs/operate/monitor.md',
  )

function logLevel({ JETON_LOG_LEVEL: level }: Config): Finding {
  if (level !== 'debug' && level !== 'trace') return ok('log level', level)
  return failed('log level', `${level} logs every request`, 'JETON_LOG_LEVEL=info')
}

/** Checks the proxies whose `X-Forwarded-For` is trusted. Too few, and allowlists see the proxy; too many, and callers choose their address. */
export function checkProxies(config: Config, production: boolean): Finding[] {
  const { JETON_TRUSTED_PROXIES: proxies, JETON_HOST: host } = config
  const unrestricted = proxies.find((entry) => parseRange(entry)?.bits === 0)
  if (unrestricted)
    return [
      (production ? failed : warning)(
        'proxies',
        `JETON_TRUSTED_PROXIES has ${unrestricted}: every caller can choose its address, so IP allowlists protect nothing`,
        'JETON_TRUSTED_PROXIES=<addresses of your proxies>',
      ),
    ]
  if (proxies.length > 0) return [ok('proxies', `X-Forwarded-For is trusted from ${proxies.join(', ')}`)]
  if (isLoopbackHost(host)) return [ok('proxies', 'none trusted; the socket address is used')]
  return [
    warning(
      'proxies',
      `none trusted, and ${host} is reachable from other machines: behind a proxy, every caller would have the address of the proxy`,
      'behind a proxy: JETON_TRUSTED_PROXIES=<its address>\nwithout one, ignore this',
    ),
  ]
}
