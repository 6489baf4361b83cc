import { Agent, request } from 'node:http'
import type { Pair } from '../service.ts'

/** Longer than every deadline of the service together: whoever has no answer by then was left hanging. */
export const HANGS_AFTER_MS = 60_000

export interface Asked {
  /** 0 where the connection was cut, -1 where nothing came. */
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: tests look into whatever came.
  readonly body: any
  readonly text: string
}

export interface Question {
  readonly method?: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** Cuts the connection this long after sending, whatever has come by then. */
  readonly cutAfterMs?: number | undefined
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

/** Asks over sockets that are kept, as busy clients do. A cut connection is an answer, too. */
export class Asker {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 64 })

  ask(url: string, { method = 'GET', path, headers = {}, body, cutAfterMs }: Question): Promise<Asked> {
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
      const cut = cutAfterMs === undefined ? undefined : setTimeout(() => sent.destroy(), cutAfterMs)
      sent.on('error', () => end(0))
      sent.end(body)
    })
  }

  close(): void {
    this.#agent.destroy()
  }
}
