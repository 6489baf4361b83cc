import { isLoopbackHost, parseRange } from '../../platform/addresses.ts'
import type { Config } from '../../platform/config/index.ts'
import { type Finding, failed, warning, well } from './check.ts'

/** Whom `X-Forwarded-For` is believed from: too few and whitelists see the proxy, too many and callers choose their address. */
export function checkProxies(config: Config, production: boolean): Finding[] {
  const { JETON_TRUSTED_PROXIES: proxies, JETON_HOST: host } = config
  const everyone = proxies.find((entry) => parseRange(entry)?.bits === 0)
  if (everyone)
    return [
      (production ? failed : warning)(
        'proxies',
        `JETON_TRUSTED_PROXIES has ${everyone}: every caller can choose its address, so IP whitelists protect nothing`,
        'JETON_TRUSTED_PROXIES=<addresses of your proxies>',
      ),
    ]
  if (proxies.length > 0) return [well('proxies', `X-Forwarded-For is believed from ${proxies.join(', ')}`)]
  if (isLoopbackHost(host)) return [well('proxies', 'none trusted; the address of the socket counts')]
  return [
    warning(
      'proxies',
      `none trusted, and ${host} can be reached from elsewhere: behind a proxy every caller would have its address`,
      'with a proxy in front: JETON_TRUSTED_PROXIES=<its address>\nwithout one this is right',
    ),
  ]
}
