import { setTimeout as wait } from 'node:timers/promises'
import type { Bench, Row } from '../compare.ts'
import type { JetonClient } from '../jeton/projects.ts'
import { createTokens } from '../jeton/tokens.ts'
import { sendAll } from '../load/connection.ts'
import { checkActive, introspectRequests } from '../requests.ts'
import type { Engine, Store } from '../stores.ts'
import { jetonOn, withSubject } from '../subjects.ts'
import { type TargetName, targetOf } from '../targets.ts'
import { CONNECTIONS } from './requests-per-second.ts'

const PROJECTS = 100
const TOKENS_PER_PROJECT = 1_000
/** A fresh process still compiles and loads for a moment. */
const SETTLE_MS = 2_000

/** Resident memory of a fresh process, and its peak after introspection of 100,000 tokens that it did not know. */
export function measureMemory(bench: Bench, engine: Engine): Promise<Row[]> {
  const description = jetonOn(engine)
  const fill = (store: Store, clients: readonly JetonClient[]) =>
    createTokens(store, clients, TOKENS_PER_PROJECT)
  const rowOf = (scenario: TargetName, bytes: number): Row => {
    const target = targetOf(scenario, engine)
    return { scenario, subject: description.label, memoryMb: bytes / 1e6, target }
  }
  return withSubject(bench.stores, description, { clients: PROJECTS, fill }, async (subject, tokens) => {
    await wait(SETTLE_MS)
    const idle = subject.program.use().rssBytes
    const requests = introspectRequests(subject, tokens, TOKENS_PER_PROJECT)
    for (const answer of await sendAll(subject.url, requests, CONNECTIONS)) checkActive(answer)
    return [rowOf('memory, idle', idle), rowOf('memory, 100,000 tokens', subject.program.use().peakBytes)]
  })
}
