import { writeFileSync } from 'node:fs'

export type Headers = Readonly<Record<string, string>>

export interface FormPost {
  readonly path: string
  readonly headers: Headers
  readonly body: string
}

/** What stands between two requests in a file: no byte of a request is one. */
export const SEPARATOR = '\0'

/** The request as it goes over the wire: both generators send exactly these bytes. */
export function rawRequest(url: string, { path, headers, body }: FormPost): string {
  const lines = Object.entries({
    host: new URL(url).host,
    accept: 'application/json',
    'content-type': 'application/x-www-form-urlencoded',
    'content-length': String(Buffer.byteLength(body)),
    ...headers,
  }).map(([name, value]) => `${name}: ${value}`)
  return [`POST ${path} HTTP/1.1`, ...lines, '', body].join('\r\n')
}

export function rawGet(url: string, { path, headers }: Omit<FormPost, 'body'>): string {
  const lines = Object.entries({ host: new URL(url).host, accept: 'application/json', ...headers })
  return [`GET ${path} HTTP/1.1`, ...lines.map(([name, value]) => `${name}: ${value}`), '', ''].join('\r\n')
}

export const writeRequests = (file: string, requests: readonly string[]): void =>
  writeFileSync(file, requests.join(SEPARATOR), 'latin1')
