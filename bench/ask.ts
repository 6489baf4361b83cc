import { type Answer, sendAll, sendOne } from './load/connection.ts'
import { rawGet, rawRequest } from './load/requests.ts'
import type { Subject } from './run-subject.ts'
import { GATEWAY, SCOPE } from './subjects/protocol.ts'

/** Distinct tokens that introspection and the gateway are asked about, in turn. */
export const TOKENS_ASKED = 5_000

export const issueRequests = ({ url, credentials, issue }: Subject): string[] =>
  credentials.map((headers) => rawRequest(url, { ...issue, headers }))

/** Every token is asked about by the client that it was issued to: `tokens` are those of the clients in turn. */
export const introspectRequests = (subject: Subject, tokens: readonly string[], eachTokens = 1): string[] =>
  tokens.map((token, i) => {
    const { url, credentials, introspect } = subject
    const headers = credentials[Math.floor(i / eachTokens) % credentials.length]!
    return rawRequest(url, { path: introspect.path, headers, body: introspect.body + token })
  })

export const gatewayRequests = ({ url }: Subject, tokens: readonly string[]): string[] =>
  tokens.map((token) =>
    rawGet(url, { path: GATEWAY.path, headers: { ...GATEWAY.headers, authorization: `Bearer ${token}` } }),
  )

function fieldsOf({ status, body }: Answer): Record<string, unknown> {
  if (status !== 200) throw new Error(`Refused with ${status}: ${body.slice(0, 300)}`)
  return JSON.parse(body)
}

/** The token in an answer to issuing, if the answer is a right one. */
export function issuedToken(answer: Answer): string {
  const { access_token: token, scope, expires_in: seconds } = fieldsOf(answer)
  if (typeof token !== 'string' || token.length < 40 || scope !== SCOPE || !(Number(seconds) > 800))
    throw new Error(`No token was issued: ${answer.body.slice(0, 300)}`)
  return token
}

export function checkActive(answer: Answer): void {
  const { active, scope } = fieldsOf(answer)
  if (active !== true || scope !== SCOPE) throw new Error(`Not active: ${answer.body.slice(0, 300)}`)
}

/** The caller, as the answer of the gateway names it. */
const CALLER = ['project-id', 'client-id', 'key-id', 'scope'].map(
  (name) => new RegExp(`\\r\\nx-jeton-${name}: .`, 'i'),
)

export function checkPassed({ status, head, body }: Answer): void {
  if (status !== 200 || body !== '' || !CALLER.every((line) => line.test(head)))
    throw new Error(`The call may not pass: ${status} ${head.slice(0, 300)} ${body.slice(0, 300)}`)
}

/** Issues tokens to the clients in turn. */
export async function issueTokens(subject: Subject, count: number): Promise<string[]> {
  const ways = issueRequests(subject)
  const requests = Array.from({ length: count }, (_, i) => ways[i % ways.length]!)
  const tokens = new Array<string>(count)
  await sendAll(subject.url, requests, (answer, place) => {
    tokens[place] = issuedToken(answer)
  })
  return tokens
}

export async function introspectOne(subject: Subject, token: string): Promise<Answer> {
  const answer = await sendOne(subject.url, introspectRequests(subject, [token])[0]!)
  checkActive(answer)
  return answer
}

export async function gatewayOne(subject: Subject, token: string): Promise<Answer> {
  const answer = await sendOne(subject.url, gatewayRequests(subject, [token])[0]!)
  checkPassed(answer)
  return answer
}
