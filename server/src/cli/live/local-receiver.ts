import { request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { wrongUsage } from '../exit.ts'

/** What came of handing a request to a receiver on this machine. */
export interface Outcome {
  readonly durationMs: number
  /** Null where there was no answer. */
  readonly status: number | null
  /** What it answered, or why it did not. */
  readonly said: string
}

/** As long as a delivery waits for its answer. */
const TIMEOUT_MS = 10_000

/** `localhost:3000/hook` is how people type it. */
export function receiverUrl(typed: string): URL {
  const text = /^[a-z][a-z0-9+.-]*:\/\//i.test(typed) ? typed : `http://${typed}`
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^https?:$/.test(url.protocol) || url.hostname === '')
    throw wrongUsage(`--forward-to: ${JSON.stringify(typed)} is not an address such as localhost:3000/hook.`)
  return url
}

const LOOPBACK = /^(localhost|.*\.localhost|127\.[\d.]+|\[::1\])$/

/** Not by fetch, which refuses ports that developers use and adds headers that no delivery has. */
export function handOver(
  url: URL,
  { headers, body }: { headers: Readonly<Record<string, string>>; body: string },
): Promise<Outcome> {
  const started = performance.now()
  const took = () => Math.round(performance.now() - started)
  const bytes = Buffer.from(body)
  return new Promise((resolve) => {
    const failed = (error: Error) => resolve({ durationMs: took(), status: null, said: reasonOf(error) })
    const options = {
      method: 'POST',
      headers: { ...headers, 'content-length': bytes.length },
      agent: false as const,
      signal: AbortSignal.timeout(TIMEOUT_MS),
    }
    // On this machine nobody is in between, and certificates are self-signed.
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

/** More than a delivery keeps on record is not read. */
const SAID_MOST = 16_384

async function beginningOf(response: IncomingMessage): Promise<string> {
  let said = ''
  for await (const chunk of response.setEncoding('utf8')) {
    said += chunk
    if (said.length >= SAID_MOST) break
  }
  return said.slice(0, SAID_MOST)
}

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nobody listens there',
  ENOTFOUND: 'no such host',
  ECONNRESET: 'the connection was cut',
  ABORT_ERR: `no answer within ${TIMEOUT_MS / 1000} s`,
}

function reasonOf(error: Error & { code?: string }): string {
  return REASONS[error.code ?? ''] ?? error.message
}
