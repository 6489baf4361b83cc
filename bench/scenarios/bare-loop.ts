/** Posts the same request again and again with undici and does nothing else. */
import { readFileSync } from 'node:fs'
import { Agent, request } from 'undici'

export interface BareTask {
  readonly urls: readonly string[]
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly count: number
}

/** As many as Jeton opens to one destination. */
const CONNECTIONS = 64

const { urls, headers, body, count } = JSON.parse(readFileSync(process.argv[2]!, 'utf8')) as BareTask
const dispatcher = new Agent({ connections: CONNECTIONS })
const bytes = Buffer.from(body)
let sent = 0

async function post(): Promise<void> {
  while (sent < count) {
    const url = urls[sent++ % urls.length]!
    const response = await request(url, { method: 'POST', dispatcher, headers, body: bytes })
    await response.body.dump()
  }
}

await Promise.all(Array.from({ length: CONNECTIONS }, post))
