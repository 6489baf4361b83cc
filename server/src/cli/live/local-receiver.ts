import { once } from 'node:events'
import { createServer, request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { AddressInfo } from 'node:net'
import { wrongUsage } from '../exit.ts'

/** The result of a request to a local receiver. */
export interface Outcome {
  readonly durationMs: number
  /** Null without a response. */
  readonly status: number | null
  /** The response body, or why there is none. */
  readonly said: string
}

/** The same deadline as a delivery. */
const TIMEOUT_MS = 10_000

/** Parses a URL; the scheme is optional, as in `localhost:3000/hook`. */
export function receiverUrl(typed: string): URL {
  const text = /^[a-z][a-z0-9+.-]*:\/\//i.test(typed) ? typed : `http://${typed}`
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^https?:$/.test(url.protocol) || url.hostname === '')
    throw wrongUsage(`--forward-to: ${JSON.stringify(typed)} is not a URL such as localhost:3000/hook.`)
  return url
}

const LOOPBACK = /^(localhost|.*\.localhost|127\.[\d.]+|\[::1\])$/

/** Sends a POST without fetch, which blocks some ports that developers use and adds headers that no delivery has. */
export function postTo(
  url: URL,
  { headers, body }: { headers: Readonly<Record<string, string>>; body: string },
): Promise<Outcome> {
  const started = performance.now()
  const took = () => Math.round(performance.now() - started)
  const bytes = Buffer.from(body)
  return new Promise((resolve) => {
    const failed = (error: Error) => resolve({ durationMs: took(), status: null, said: reasonOf(error, url) })
    const options = {
      method: 'POST',
      headers: { ...headers, 'content-length': bytes.length },
      agent: false as const,
      signal: AbortSignal.timeout(TIMEOUT_MS),
    }
    // On loopback nobody can intercept the connection, and certificates are self-signed.
    const trusting = { ...options, rejectUnauthorized: !LOOPBACK.test(url.hostname) }
    const sent = url.protocol === 'https:' ? httpsRequest(url, trusting) : httpRequest(url, options)
    sent.once('error', failed)
    sent.once('response', (response) => {
      beginningOf(response).then(
        (said) => resolve({ durationMs: took(), status: response.statusCode!, said }),
        failed,
      )
    })
    sent.end(bytes)
  })
}

/** Reads no more of the response than a delivery records. */
const MAX_BODY = 16_384

async function beginningOf(response: IncomingMessage): Promise<string> {
  let said = ''
  for await (const chunk of response.setEncoding('utf8')) {
    said += chunk
    if (said.length >= MAX_BODY) break
  }
  return said.slice(0, MAX_BODY)
}

const REASONS: Readonly<Record<string, string>> = {
  ENOTFOUND: 'no such host',
  ECONNRESET: 'the connection was closed',
  ABORT_ERR: `no answer within ${TIMEOUT_MS / 1000} s`,
}

function reasonOf(error: Error & { code?: string }, { host }: URL): string {
  if (error.code === 'ECONNREFUSED') return `connection refused: nothing is listening on ${host}`
  return REASONS[error.code ?? ''] ?? error.message
}

export interface Arrival {
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
  /** By `performance.now()`. */
  readonly at: number
}

/** A webhook receiver on this machine. It returns 500 while it is down, otherwise 204. */
export interface Receiver {
  readonly url: string
  readonly arrivals: readonly Arrival[]
  isDown: boolean
  close(): Promise<unknown>
}

export async function startReceiver(): Promise<Receiver> {
  const arrivals: Arrival[] = []
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString()
    const headers = new Map(Object.entries(request.headers).map(([name, value]) => [name, String(value)]))
    arrivals.push({ headers, body, at: performance.now() })
    response.writeHead(receiver.isDown ? 500 : 204).end(receiver.isDown ? 'down' : undefined)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`
  const close = () => new Promise((resolve) => server.close(resolve).closeAllConnections())
  const receiver: Receiver = { url, arrivals, isDown: false, close }
  return receiver
}
