import { Agent, type IncomingHttpHeaders, request } from 'node:http'
import type { Pair } from './service.ts'

/** Enough for races, and below the default limit of open files per process. */
const SOCKETS_PER_SERVICE = 200

export interface ConcurrentResponse {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: { access_token: string; expires_at: number; key: string; active: boolean }
}

function post(
  agent: Agent,
  url: string,
  headers: Record<string, string>,
  body: string,
): Promise<ConcurrentResponse> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: 'POST', agent, headers }, (answer) => {
      let text = ''
      answer.setEncoding('utf8')
      answer.on('data', (chunk) => (text += chunk))
      answer.on('error', reject)
      answer.on('end', () =>
        resolve({ status: answer.statusCode!, headers: answer.headers, body: JSON.parse(text) }),
      )
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

interface FormRequest {
  readonly url: string
  readonly pair: Pair
  readonly fields: Record<string, string>
}

/** Sends many form posts at once, over kept connections. */
export async function postAll(requests: readonly FormRequest[]): Promise<ConcurrentResponse[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: SOCKETS_PER_SERVICE })
  const sent = requests.map(({ url, pair, fields }) => {
    const headers = {
      'content-type': 'application/x-www-form-urlencoded',
      'x-app-id': pair.appId,
      'x-app-token': pair.appToken,
    }
    return post(agent, url, headers, String(new URLSearchParams(fields)))
  })
  return Promise.all(sent).finally(() => agent.destroy())
}

/** Sends many token requests at once, distributed over the services and the key pairs. */
export function issueConcurrently(
  services: readonly { readonly url: string }[],
  count: number,
  pair: Pair | readonly Pair[],
): Promise<ConcurrentResponse[]> {
  const pairs = [pair].flat() as Pair[]
  const fields = { grant_type: 'client_credentials', scope: 'vouchers' }
  return postAll(
    Array.from({ length: count }, (_, i) => ({
      url: `${services[i % services.length]!.url}/v1/oauth/token`,
      pair: pairs[i % pairs.length]!,
      fields,
    })),
  )
}

/** Number of responses by status: `{ 200: 1000, 429: 2000 }`. */
export function statuses(answers: readonly ConcurrentResponse[]): Record<number, number> {
  const counts: Record<number, number> = {}
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

/** The issued tokens. */
export const tokensOf = (answers: readonly ConcurrentResponse[]): string[] =>
  answers.filter(({ status }) => status === 200).map(({ body }) => body.access_token)
