import type { Schemas } from '../../api/client.ts'

const REASONS: Readonly<Record<number, string>> = {
  200: 'OK',
  401: 'Unauthorized',
  403: 'Forbidden',
  429: 'Too Many Requests',
}

/** A response as HTTP shows it. */
export function responseText({ status, headers, body }: Schemas['AccessCheck']['response']): string {
  const lines = [
    `HTTP/1.1 ${status} ${REASONS[status] ?? ''}`.trimEnd(),
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ]
  return body === null ? lines.join('\n') : `${lines.join('\n')}\n\n${JSON.stringify(body, null, 2)}`
}
