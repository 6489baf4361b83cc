import { setTimeout as wait } from 'node:timers/promises'

const EVERY_MS = 200
const WITHIN_MS = 120_000
const REQUEST_WITHIN_MS = 2_000

/** Waits until `check` returns a value. Throws with the last error of `check`. */
export async function until<T>(what: string, check: () => Promise<T | undefined | false>): Promise<T> {
  let problem: unknown = 'no answer'
  for (const end = performance.now() + WITHIN_MS; performance.now() < end; await wait(EVERY_MS)) {
    try {
      const found = await check()
      if (found !== undefined && found !== false) return found
    } catch (error) {
      problem = error
    }
  }
  throw new Error(`${what}: not within ${WITHIN_MS / 1000} s (${problem})`)
}

/** The JSON of a response, whatever its status. */
// biome-ignore lint/suspicious/noExplicitAny: Patroni, etcd and Jeton answer in different shapes.
export async function askJson(url: string, init: RequestInit = {}): Promise<{ status: number; body: any }> {
  const response = await fetch(url, { signal: AbortSignal.timeout(REQUEST_WITHIN_MS), ...init })
  const text = await response.text()
  return { status: response.status, body: text.startsWith('{') ? JSON.parse(text) : text }
}
