import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Received {
  readonly perSecond: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** Requests at the start that do not count, as a part of all. */
const WARM_UP_PART = 1 / 4

/** Receives webhooks in this process, which has nothing else to do meanwhile, and measures how fast they come. */
export class Receiver {
  readonly #server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk) => chunks.push(chunk))
    request.on('end', () => {
      response.writeHead(204).end()
      this.#onRequest(request.headers, chunks)
    })
  })
  #onRequest: (headers: IncomingHttpHeaders, chunks: readonly Buffer[]) => void = () => undefined

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  /** Resolves once `count` requests have arrived from now on. */
  receive(count: number): Promise<Received> {
    const warmUp = Math.floor(count * WARM_UP_PART)
    let [received, startedAt] = [0, 0]
    return new Promise((resolve) => {
      this.#onRequest = (headers, chunks) => {
        received++
        if (received === warmUp) startedAt = performance.now()
        if (received !== count) return
        const seconds = (performance.now() - startedAt) / 1000
        resolve({ perSecond: (count - warmUp) / seconds, headers, body: Buffer.concat(chunks).toString() })
      }
    })
  }

  close(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }
}
