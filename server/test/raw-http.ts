import { connect } from 'node:net'

/** An answer as it came over the socket. */
export interface RawAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into whatever came.
  readonly body: any
}

/** Sends bytes as they are, which no HTTP client would, and reads until the server closes; `from` is an address of this machine. */
export function sendBytes(url: string, bytes: string | Buffer, from?: string): Promise<RawAnswer> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    const done = () => (chunks.length > 0 ? resolve(parse(Buffer.concat(chunks))) : undefined)
    const to = { port: Number(port), host: hostname, ...(from !== undefined && { localAddress: from }) }
    const socket = connect(to, () => socket.write(bytes))
    socket.on('data', (chunk) => chunks.push(chunk))
    socket.on('close', () => done() ?? reject(new Error('The connection was closed without an answer.')))
    // A server that has answered may close while we are still sending: the answer counts.
    socket.on('error', () => undefined)
  })
}

function parse(bytes: Buffer): RawAnswer {
  const end = bytes.indexOf('\r\n\r\n')
  const [first = '', ...lines] = bytes.subarray(0, end).toString('latin1').split('\r\n')
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
    }),
  )
  const text = bytes.subarray(end + 4).toString()
  return { status: Number(first.split(' ')[1]), headers, text, body: jsonOrUndefined(text) }
}

function jsonOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

interface RawRequest {
  readonly method?: string
  /** As it goes over the wire, unescaped. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
  /** An address of this machine. */
  readonly from?: string
}

/** A request that says `Connection: close`, with a path and a body that are sent as they are. */
export function sendRaw(
  url: string,
  { method = 'GET', path, headers = {}, body, from }: RawRequest,
): Promise<RawAnswer> {
  const all: Record<string, string> = { host: new URL(url).host, connection: 'close', ...headers }
  const content = body === undefined ? undefined : Buffer.from(body)
  if (content && all['transfer-encoding'] === undefined) all['content-length'] ??= String(content.length)
  const head = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return sendBytes(
    url,
    Buffer.concat([
      Buffer.from(`${method} ${path} HTTP/1.1\r\n${head.join('')}\r\n`, 'latin1'),
      content ?? Buffer.alloc(0),
    ]),
    from,
  )
}
