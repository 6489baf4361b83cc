import type { ChildProcess } from 'node:child_process'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** It answers once it has got so many: who asks again and again takes the time of those who send. Asked before they do. */
export interface ToReceiver {
  readonly count: number
  /** It counts the time from the one after so many: the first ones warm up who sends them. */
  readonly warmUp?: number
  /** It then begins anew. */
  readonly reset?: true
  /** From now on it reads how old events are. */
  readonly timing?: true
}

/** What the receiver has seen since it was last reset. */
export interface FromReceiver {
  /** From the first after the warm-up to the last. */
  readonly seconds: number
  readonly delaysMs: number[]
  readonly last: Sent
}

export interface Sent {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** What a receiver does with a request. */
export type Behaviour = 'answer' | 'hang' | 'fail' | 'drip'

/** What the bare loop posts, and where. */
export interface BareTask extends Sent {
  readonly urls: readonly string[]
  readonly count: number
  readonly connections: number
}

export function announceUrl(server: Server, protocol: 'http' | 'https'): void {
  process.on('disconnect', () => process.exit(1))
  // Every address of `localhost`: certificates are made for names.
  server.listen(0, 'localhost', () => {
    const { port } = server.address() as AddressInfo
    process.send!(`${protocol}://localhost:${port}`)
  })
}

export const heard = <T>(child: ChildProcess): Promise<T> =>
  new Promise((resolve, reject) => {
    const gone = (code: number | null) => reject(new Error(`ended with ${code}`))
    child.once('exit', gone)
    child.once('message', (message) => {
      child.off('exit', gone)
      resolve(message as T)
    })
  })
