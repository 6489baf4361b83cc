import { type Clock, systemClock } from '../clock.ts'
import { createConnect } from './connect.ts'
import { Departures } from './departures.ts'
import { type Answer, Exchange, type OutboundRequest } from './exchange.ts'
import { type FindAddresses, findAddressesBy } from './find-addresses.ts'
import { Lines } from './lines.ts'
import { Places } from './places.ts'
import type { Reach } from './reach.ts'
import { Targets, writeRequest } from './request-bytes.ts'
import { UnderWay } from './under-way.ts'

/** Posts to receivers: over connections that stay open, within one deadline, and only where it may. */
export interface Sender {
  /** Whatever happens is an answer or words about why there is none. It rejects only what nobody could send. */
  send(request: OutboundRequest): Promise<Answer>
  /** Gives up what is under way. */
  close(): Promise<void>
}

interface SenderParts {
  readonly reach: Reach
  /** What receivers see who is asking. */
  readonly userAgent?: string
  readonly clock?: Clock
  readonly lookup?: FindAddresses
  /** Authorities that certificates may come from, in place of those that Node brings along (PEM). */
  readonly ca?: string
  readonly deadlineMs?: number
}

/** Over all: looking up, connecting, TLS, sending, waiting and reading. */
const DEADLINE_MS = 10_000

export function createSender(parts: SenderParts): Sender {
  const { reach, clock = systemClock, lookup = findAddressesBy(), ca } = parts
  const { userAgent = 'Jeton', deadlineMs = DEADLINE_MS } = parts
  const lines = new Lines(createConnect({ reach, find: lookup, ca, clock }), clock)
  const underWay = new UnderWay(deadlineMs)
  const places = new Places()
  const deps = { lines, places, departures: new Departures(), clock, deadlineMs }
  const targets = new Targets()
  let closed = false

  return {
    send: ({ url, headers, body, signal }) =>
      new Promise((resolve) => {
        const target = targets.of(url)
        const written = writeRequest(places, target, { headers, userAgent, body })
        const exchange: Exchange = new Exchange(deps, { url: target.url, written, signal }, (answer) => {
          underWay.delete(exchange)
          resolve(answer)
        })
        underWay.add(exchange)
        if (closed) exchange.stop()
        else exchange.begin()
      }),
    async close() {
      closed = true
      underWay.stop()
      lines.closeIdle()
    },
  }
}
