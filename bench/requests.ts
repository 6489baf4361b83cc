import type { Shop } from './jeton/shop.ts'
import { type Answer, sendAll, sendOne } from './load/connection.ts'
import { GATEWAY, type Headers, type Route, SCOPE, type Subject } from './subject.ts'

/** Distinct tokens that introspection and the gateway are asked about, in turn. */
const TOKENS_ASKED = 1_000

/** A request as bytes. */
function rawRequest(method: string, { url, path, body }: Route, headers: Headers): string {
  const content = {
    'content-type': 'application/x-www-form-urlencoded',
    'content-length': String(Buffer.byteLength(body)),
  }
  const all = {
    host: new URL(url).host,
    accept: 'application/json',
    ...(method === 'POST' && content),
    ...headers,
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`)
  return [`${method} ${path} HTTP/1.1`, ...lines, '', body].join('\r\n')
}

export const issueRequests = ({ issue, credentials }: Subject): string[] =>
  credentials.map((headers) => rawRequest('POST', issue, headers))

/** `each` consecutive tokens belong to one client; each token is introspected by its own client. */
export function introspectRequests(subject: Subject, tokens: readonly string[], each = 1): string[] {
  const { introspect, credentials, introspectCredentials = credentials } = subject
  return tokens.map((token, i) => {
    const headers = introspectCredentials[Math.floor(i / each) % introspectCredentials.length]!
    return rawRequest('POST', { ...introspect, body: introspect.body + token }, headers)
  })
}

export const gatewayRequests = ({ url }: Subject, tokens: readonly string[]): string[] =>
  tokens.map((token) =>
    rawRequest(
      'GET',
      { url, path: GATEWAY.path, body: '' },
      { ...GATEWAY.headers, authorization: `Bearer ${token}` },
    ),
  )

export const redeemRequests = ({ url, credentials }: Subject, shop: Shop): string[] =>
  shop.cardCodes.map((code) => {
    const path = `/v1/loyalties/${shop.campaignId}/members/${code}/redemption`
    const body = JSON.stringify({ reward: { id: shop.rewardId } })
    return rawRequest('POST', { url, path, body }, { ...credentials[0], 'content-type': 'application/json' })
  })

function fieldsOf({ status, body }: Answer): Record<string, unknown> {
  if (status !== 200) throw new Error(`refused with ${status}: ${body.slice(0, 300)}`)
  return JSON.parse(body)
}

export function issuedToken(answer: Answer): string {
  const { access_token: token, scope, expires_in: seconds } = fieldsOf(answer)
  if (typeof token !== 'string' || token.length < 40 || scope !== SCOPE || !(Number(seconds) > 800))
    throw new Error(`not a token: ${answer.body.slice(0, 300)}`)
  return token
}

export function checkActive(answer: Answer): void {
  const { active, scope } = fieldsOf(answer)
  if (active !== true || scope !== SCOPE) throw new Error(`not active: ${answer.body.slice(0, 300)}`)
}

const IDENTITY = ['project-id', 'client-id', 'key-id', 'scope'].map(
  (name) => new RegExp(`\\r\\nx-jeton-${name}: .`, 'i'),
)

export function checkAllowed({ status, head, body }: Answer): void {
  if (status !== 200 || body !== '' || !IDENTITY.every((line) => line.test(head)))
    throw new Error(`not allowed: ${status} ${head.slice(0, 300)} ${body.slice(0, 300)}`)
}

export function checkRedeemed(answer: Answer): void {
  if (fieldsOf(answer).result !== 'SUCCESS') throw new Error(`not redeemed: ${answer.body.slice(0, 300)}`)
}

export async function issueTokens(subject: Subject): Promise<string[]> {
  const requests = issueRequests(subject)
  const all = Array.from({ length: TOKENS_ASKED }, (_, i) => requests[i % requests.length]!)
  return (await sendAll(subject.issue.url, all)).map(issuedToken)
}

/** The requests of a load, checked: each gets the right response, and the first says how long it is. */
export interface Traffic {
  readonly url: string
  readonly requests: readonly string[]
  readonly bytesPerAnswer: number
}

export async function issueTraffic(subject: Subject): Promise<Traffic> {
  const { url } = subject.issue
  const requests = issueRequests(subject)
  const answer = await sendOne(url, requests[0]!)
  issuedToken(answer)
  return { url, requests, bytesPerAnswer: answer.bytes }
}

async function checkedTraffic(
  url: string,
  requests: readonly string[],
  check: (answer: Answer) => void,
): Promise<Traffic> {
  const answers = await sendAll(url, requests)
  answers.forEach(check)
  return { url, requests, bytesPerAnswer: answers[0]!.bytes }
}

export const TRAFFIC = {
  issue: issueTraffic,
  introspect: async (subject: Subject) =>
    checkedTraffic(
      subject.introspect.url,
      introspectRequests(subject, await issueTokens(subject)),
      checkActive,
    ),
  gateway: async (subject: Subject) =>
    checkedTraffic(subject.url, gatewayRequests(subject, await issueTokens(subject)), checkAllowed),
} as const

export const redeemTraffic = (subject: Subject, shop: Shop): Promise<Traffic> =>
  checkedTraffic(subject.url, redeemRequests(subject, shop), checkRedeemed)
