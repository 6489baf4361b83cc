import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { judgeRequest } from '../verify/judge-request.ts'
import type { Judgement } from '../verify/ladder.ts'

export interface Arrival {
  /** `webhook-id`. */
  readonly id: string
  /** Of the attempt. */
  readonly attempt: string
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
  /** As `performance.now` told it. */
  readonly at: number
}

/** Someone who receives events, on this machine, for as long as the tour takes. */
export interface TourReceiver {
  readonly url: string
  readonly arrivals: readonly Arrival[]
  /** What it answers: 204, or 500 while it is out of order. */
  outOfOrder: boolean
  /** The first that is so; undefined if it does not come in time. */
  arrived(isMeant: (arrival: Arrival) => boolean, until: Until): Promise<Arrival | undefined>
  close(): Promise<void>
}

interface Until {
  readonly withinMs: number
  readonly stopped: AbortSignal
}

const LOOK_EVERY_MS = 5

export async function startTourReceiver(): Promise<TourReceiver> {
  const arrivals: Arrival[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const at = performance.now()
    const headers = new Map(Object.entries(request.headers).map(([name, value]) => [name, String(value)]))
    const body = Buffer.concat(chunks).toString()
    const { 'webhook-id': id = '', 'x-jeton-attempt': attempt = '' } = Object.fromEntries(headers)
    arrivals.push({ id, attempt, headers, body, at })
    response.writeHead(receiver.outOfOrder ? 500 : 204).end(receiver.outOfOrder ? 'out of order' : '')
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const receiver: TourReceiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    arrivals,
    outOfOrder: false,
    async arrived(isMeant, { withinMs, stopped }) {
      const late = performance.now() + withinMs
      for (;;) {
        const found = arrivals.find(isMeant)
        if (found || performance.now() > late || stopped.aborted) return found
        await wait(LOOK_EVERY_MS)
      }
    },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return receiver
}

/** Five minutes, as receivers usually have it. */
const TOLERANCE_MS = 300_000

/** As `jeton verify` judges it; every library of Standard Webhooks comes to the same. */
export const judgeArrival = ({ headers, body }: Arrival, secret: string): Judgement =>
  judgeRequest({
    request: { headers, body },
    secret,
    toleranceMs: TOLERANCE_MS,
    now: Date.now(),
  })
