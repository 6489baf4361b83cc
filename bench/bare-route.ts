import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Bench, type Load, runSlice, type Slice } from './compare.ts'
import { type Answer, sendOne } from './load/connection.ts'
import {
  checkActive,
  checkAllowed,
  gatewayRequests,
  introspectRequests,
  issuedToken,
  issueRequests,
  TRAFFIC,
} from './requests.ts'
import type { Captured, CapturedAnswer, Client, Subject } from './subject.ts'
import { jetonOn, type Kind, startBare, withSubject } from './subjects.ts'

/** Added by every HTTP server of Node itself. */
const BY_THE_SERVER = new Set(['connection', 'content-length', 'date', 'keep-alive'])

function captured({ head, body, bytes }: Answer): CapturedAnswer {
  const lines = head.split('\r\n').slice(1)
  const headers = lines.map((line) => {
    const colon = line.indexOf(':')
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 2)] as const
  })
  const own = headers.filter(([name]) => !BY_THE_SERVER.has(name)).sort(([a], [b]) => a.localeCompare(b))
  return { headers: Object.fromEntries(own), body, bytes }
}

async function captureAnswers(subject: Subject): Promise<Captured> {
  const issue = await sendOne(subject.url, issueRequests(subject)[0]!)
  const tokens = [issuedToken(issue)]
  const introspect = await sendOne(subject.url, introspectRequests(subject, tokens)[0]!)
  checkActive(introspect)
  const gateway = await sendOne(subject.url, gatewayRequests(subject, tokens)[0]!)
  checkAllowed(gateway)
  return { issue: captured(issue), introspect: captured(introspect), gateway: captured(gateway) }
}

/** The bare Fastify route: the same requests and the same responses as Jeton, and nothing in between. */
export interface BareRoute {
  slice(bench: Bench, kind: Kind, connections: number): Promise<Slice>
}

/** Captures responses of a real Jeton, starts the bare server and checks that it sends the same bytes. */
export async function withBareRoute<T>(
  bench: Bench,
  clients: number,
  work: (bare: BareRoute) => Promise<T>,
): Promise<T> {
  const [answers, asked] = await withSubject(
    bench.stores,
    jetonOn('sqlite'),
    { clients },
    async (jeton, _, own): Promise<[Captured, readonly Client[]]> => [await captureAnswers(jeton), own],
  )
  const folder = join(bench.stores.folder, 'bare')
  mkdirSync(folder)
  const subject = await startBare(folder, asked, answers)
  try {
    const [sent, expected] = [await captureAnswers(subject), answers].map((one) => JSON.stringify(one))
    if (sent !== expected) throw new Error(`the bare server sends ${sent}, but Jeton sends ${expected}`)
    return await work(bareRouteOf(subject))
  } finally {
    await subject.program.stop()
  }
}

function bareRouteOf(subject: Subject): BareRoute {
  const traffics = new Map<Kind, Load['traffic']>()
  return {
    async slice(bench, kind, connections) {
      const traffic = traffics.get(kind) ?? (await TRAFFIC[kind](subject))
      traffics.set(kind, traffic)
      const [slice] = await runSlice(bench, subject, [{ traffic, connections }], 1)
      return slice!
    },
  }
}
