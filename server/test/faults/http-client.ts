import { Agent, request } from 'node:http'
import type { Pair } from '../service.ts'

/** Longer than all deadlines of the service together: a request without a response by then hangs. */
export const HANGS_AFTER_MS = 60_000

export interface HttpResult {
  /** 0 if the connection was reset, -1 if no response came. */
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: tests inspect bodies of any shape.
  readonly body: any
  readonly text: string
}

export interface HttpRequest {
  readonly method?: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** Closes the connection this long after sending, whether or not a response has come. */
  readonly abortAfterMs?: number | undefined
}

export const asPair = ({ appId, appToken }: Pair) => ({ 'x-app-id': appId, 'x-app-token': appToken })

export const asForm = (fields: Record<string, string>) => ({
  method: 'POST',
  headers: { 'content-type': 'application/x-www-form-urlencoded' },
  body: String(new URLSearchParams(fields)),
})

export const asJson = (body: object) => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
})

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Sends requests over kept connections, as busy clients do. A reset connection is a result with status 0. */
export class HttpClient {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 64 })

  send(
    url: string,
    { method = 'GET', path, headers = {}, body, abortAfterMs }: HttpRequest,
  ): Promise<HttpResult> {
    return new Promise((resolve) => {
      const end = (status: number, text = '') => {
        clearTimeout(late)
        clearTimeout(cut)
        resolve({ status, text, body: parsed(text) })
      }
      const sent = request(url + path, { method, headers, agent: this.#agent }, (answer) => {
        let text = ''
        answer.setEncoding('utf8').on('data', (chunk) => (text += chunk))
        answer.on('error', () => end(0))
        answer.on('end', () => (answer.complete ? end(answer.statusCode!, text) : end(0)))
      })
      const late = setTimeout(() => {
        end(-1)
        sent.destroy()
      }, HANGS_AFTER_MS)
      const cut = abortAfterMs === undefined ? undefined : setTimeout(() => sent.destroy(), abortAfterMs)
      sent.on('error', () => end(0))
      sent.end(body)
    })
  }

  close(): void {
    this.#agent.destroy()
  }
}
