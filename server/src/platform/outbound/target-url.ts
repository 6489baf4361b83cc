import { isIP } from 'node:net'
import { Problem } from '../../contract/problem.ts'
import { type AddressClass, CLASS_WORDS } from './address-class.ts'
import type { EgressPolicy } from './egress-policy.ts'

const bad = (message: string, details: string): Problem =>
  new Problem('invalid_payload', { message, details })

const EXAMPLE = 'Use an address such as https://hooks.example.com/jeton.'

/** Names that cannot be public: RFC 6761, RFC 6762 and ICANN's .internal. */
export const LOCAL_NAME = /(^|\.)(localhost|local|internal)$/
const LOOPBACK_NAME = /(^|\.)localhost$/
const NAME = /^(?=.{1,253}$)[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*$/

/** For messages, without path and query, which may contain a token of the receiver. */
const shown = (url: URL): string => `${url.protocol}//${url.host}`

const HOST = '(\\[[0-9A-Fa-f:.]+\\]|[^\\s\\\\/?#@:\\[\\]]{1,254})'

/**
 * The rules of a target URL that a schema can express. Strict, so that spellings which only parsers understand
 * (`https:host`, `https:\\\\host`, an empty user) are refused.
 */
export const TARGET_URL = {
  format: 'uri',
  maxLength: 2000,
  pattern: `^[Hh][Tt][Tt][Pp][Ss]?://${HOST}(:([1-9]\\d{0,4})?)?([/?][^\\s\\\\#]*)?$`,
  'x-says':
    'must be a web address such as https://hooks.example.com/jeton, of at most 2000 characters, without user name, password or fragment',
}
const WRITTEN_OUT = new RegExp(TARGET_URL.pattern)

function parse(text: string): URL {
  if (!WRITTEN_OUT.test(text) || !URL.canParse(text))
    throw bad(`target_url ${TARGET_URL['x-says']}.`, EXAMPLE)
  return new URL(text)
}

function refusal(url: URL, found: Exclude<AddressClass, 'public'>, range: string): Problem {
  const why = `${shown(url)} is ${CLASS_WORDS[found]}; Jeton sends only to public addresses.`
  const instead = found === 'loopback' ? `For development: jeton listen --forward-to ${typed(url)}. ` : ''
  return bad(why, `${instead}To allow it: JETON_WEBHOOK_ALLOW=${range}`)
}

/** `http://` is omitted, because it is the default. */
const typed = (url: URL): string => (url.protocol === 'http:' ? url.host : shown(url))

function checkLiteral(url: URL, address: string, policy: EgressPolicy): void {
  const verdict = policy.check(address)
  if (verdict !== 'allowed')
    throw refusal(url, verdict, verdict === 'loopback' ? loopbackOf(address) : address)
  if (url.protocol === 'http:' && !policy.isAllowlisted(address)) throw plainHttp(url, address)
}

const loopbackOf = (address: string): string => (address === '::1' ? '::1' : '127.0.0.0/8')

const plainHttp = (url: URL, range: string): Problem =>
  bad(
    `${shown(url)} is plain http, which others can read in transit.`,
    `Use https. Plain http is allowed only for addresses in JETON_WEBHOOK_ALLOW: JETON_WEBHOOK_ALLOW=${range}`,
  )

/** Names are not resolved here, because their addresses may change. The guard checks them at connection time. */
function checkName(url: URL, name: string, policy: EgressPolicy): void {
  if (!NAME.test(name)) throw bad('target_url has no valid host name.', EXAMPLE)
  if (LOOPBACK_NAME.test(name)) {
    if (!['127.0.0.1', '::1'].some(policy.isAllowlisted)) throw refusal(url, 'loopback', '127.0.0.0/8')
  } else if (LOCAL_NAME.test(name) && !policy.hasAllowlist)
    throw bad(
      `${shown(url)} is a name of a local network; Jeton sends only to public addresses.`,
      'To allow it, add the address that it resolves to: JETON_WEBHOOK_ALLOW=10.0.0.4',
    )
  else if (url.protocol === 'http:' && !policy.hasAllowlist) throw plainHttp(url, '<its address>')
}

/**
 * Refuses a target URL that can never be sent to, with a remedy. Parsing by the URL standard turns decimal, octal,
 * hexadecimal and short spellings of IPv4 into the usual one, so there is one spelling to check.
 */
export function checkTargetUrl(text: string, policy: EgressPolicy): void {
  const url = parse(text)
  const host = url.hostname.replace(/^\[|\]$|\.$/g, '')
  if (isIP(host) === 0) checkName(url, host, policy)
  else checkLiteral(url, host, policy)
}
