import { setTimeout as wait } from 'node:timers/promises'
import { checkActive, introspectRequests } from '../ask.ts'
import { fillKnownTokens } from '../fill-jeton.ts'
import { JETON_NAME, SUBJECTS, withSubject } from '../launch.ts'
import { sendAll } from '../load/connection.ts'
import { shownCount, shownMb } from '../shown.ts'
import type { Engine } from '../stores.ts'
import type { ProcessUse } from '../subjects/protocol.ts'
import type { Bench } from './load-subject.ts'
import { CONNECTIONS } from './throughput.ts'

const PROJECTS = 100
const TOKENS_EACH = 1_000
/** A fresh process has things to do for a moment. */
const SETTLE_MS = 2_000

export interface MemoryRow {
  readonly engine: Engine
  readonly idle: ProcessUse
  readonly cached: ProcessUse
  /** As the process itself counts them. */
  readonly tokensCached: number
}

/** Memory of a fresh process, and after it was asked about 100,000 tokens that it had never seen. */
export async function measureMemory(bench: Bench, engine: Engine): Promise<MemoryRow[]> {
  let tokens: string[] = []
  const options = {
    clients: PROJECTS,
    fill: async (...[store, clients]: Parameters<NonNullable<Parameters<typeof withSubject>[2]['fill']>>) => {
      tokens = await fillKnownTokens(store, clients, TOKENS_EACH)
    },
  }
  const row = await withSubject(bench.stores, JETON_NAME[engine], options, async (subject) => {
    await wait(SETTLE_MS)
    const idle = await subject.use()
    await sendAll(subject.url, introspectRequests(subject, tokens, TOKENS_EACH), checkActive, CONNECTIONS)
    return { engine, idle, cached: await subject.use(), tokensCached: await tokensCached(subject.url) }
  })
  const { label } = SUBJECTS[JETON_NAME[engine]]
  bench.say(
    `memory: ${label}: idle ${shownMb(row.idle.rssBytes)}, ${shownCount(row.tokensCached)} tokens cached ${shownMb(row.cached.rssBytes)}`,
  )
  return [row]
}

async function tokensCached(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  return Number(/^jeton_tokens_cached (\d+)/m.exec(text)?.[1])
}
