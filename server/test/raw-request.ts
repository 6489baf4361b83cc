import { connect } from 'node:net'
import type { Answer } from './service.ts'

interface RawRequest {
  readonly method?: string
  readonly path: string
  /** As they go over the wire: in this order, as often as they are named. */
  readonly headers?: readonly (readonly [string, string])[]
  readonly body?: string | Buffer
}

/** Sends a request byte by byte, for input that no proper client sends. */
export function rawRequest(
  url: string,
  { method = 'POST', path, headers = [], body = '' }: RawRequest,
): Promise<Answer> {
  const { hostname, port, host } = new URL(url)
  const bytes = Buffer.from(body)
  const named = new Set(headers.map(([name]) => name.toLowerCase()))
  const own: [string, string][] = [['Connection', 'close']]
  if (!named.has('host')) own.push(['Host', host])
  if (!named.has('content-length')) own.push(['Content-Length', String(bytes.length)])
  const head = [...own, ...headers].map(([name, value]) => `${name}: ${value}\r\n`).join('')
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    const socket = connect({ host: hostname, port: Number(port) })
    // A server that responds early may close before the whole body is sent. Its response counts.
    socket.on('error', (error) => (chunks.length > 0 ? undefined : reject(error)))
    socket.on('data', (chunk) => chunks.push(chunk))
    socket.on('close', () => resolve(parseAnswer(Buffer.concat(chunks))))
    socket.write(Buffer.concat([Buffer.from(`${method} ${path} HTTP/1.1\r\n${head}\r\n`, 'latin1'), bytes]))
  })
}

function parseAnswer(bytes: Buffer): Answer {
  const text = bytes.toString()
  const end = text.indexOf('\r\n\r\n')
  const [first = '', ...lines] = text.slice(0, end).split('\r\n')
  const headers = new Headers(lines.map((line) => line.split(/: ?(.*)/s).slice(0, 2) as [string, string]))
  const body = text.slice(end + 4)
  let parsed: unknown
  try {
    parsed = JSON.parse(body)
  } catch {
    parsed = undefined
  }
  return { status: Number(first.split(' ')[1]), headers, text: body, body: parsed }
}
