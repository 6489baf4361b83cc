import { withoutCredentials } from '../../contract/ids.ts'
import type { Problem } from '../../contract/problem.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Database } from '../../platform/database/index.ts'
import { type ErrorContext, pathOf } from '../../platform/http/index.ts'
import type { UsageCounter } from '../usage/index.ts'
import {
  deleteRefusalsBefore,
  deleteRefusalsOfProject,
  findOldestKept,
  insertRefusals,
  type RefusalRow,
} from './refusal.store.ts'
import { RefusalSampler } from './refusal-sampler.ts'

const KEPT_MS = 24 * 60 * 60 * 1000
const KEPT_PER_PROJECT = 10_000
/** A flood fills this and no more: what does not fit is not on record, and is counted. */
const WAITING_MOST = 5_000
const ROWS_PER_STATEMENT = 500

const printable = (text: string, most: number): string => text.replace(/[^\x20-\x7e]/g, '?').slice(0, most)

function rowOf(request: ErrorContext, problem: Problem, at: number): RefusalRow {
  const { caller } = request
  return {
    request_id: request.id,
    project_id: problem.refusal?.projectId ?? '',
    at,
    method: request.method,
    path: withoutCredentials(printable(pathOf(request.url), 400)).slice(0, 200),
    status: problem.status,
    key: problem.key,
    step: problem.refusal?.step ?? problem.key,
    key_id: problem.refusal?.keyId ?? null,
    address: caller.plain,
    socket_address: caller.socket,
    forwarded:
      caller.forwarded === null ? null : withoutCredentials(printable(caller.forwarded, 400)).slice(0, 200),
  }
}

/** What a client does again and again. Of strangers each address is one. */
const kindOf = ({ project_id, step, key_id, address }: RefusalRow): string =>
  `${project_id} ${step} ${project_id === '' ? address : key_id}`

/** Gathers refusals in memory and writes them in batches, off the request's path. */
export function createRefusalRecorder({
  db,
  clock,
  usage,
}: {
  db: Database
  clock: Clock
  usage: UsageCounter
}) {
  const sampler = new RefusalSampler()
  let waiting: RefusalRow[] = []
  let flushing: Promise<void> | undefined

  async function write(): Promise<void> {
    while (waiting.length > 0) {
      const rows = waiting.slice(0, ROWS_PER_STATEMENT)
      await db.transaction((tx) => insertRefusals(tx, rows))
      waiting = waiting.slice(rows.length)
      for (const projectId of new Set(rows.map((row) => row.project_id))) await trim(projectId)
    }
  }

  /** Read outside of a transaction, so that nobody waits for it who has nothing to trim. */
  async function trim(projectId: string): Promise<void> {
    const oldest = await findOldestKept(db, projectId, KEPT_PER_PROJECT)
    if (oldest !== undefined) await db.transaction((tx) => deleteRefusalsOfProject(tx, projectId, oldest))
  }

  return {
    record(request: ErrorContext, problem: Problem): void {
      usage.refusal(problem.refusal?.step ?? problem.key, problem.refusal ?? {})
      if (waiting.length >= WAITING_MOST) return
      const row = rowOf(request, problem, clock.now())
      if (sampler.shouldRecord(kindOf(row), clock.monotonic())) waiting.push(row)
    },
    /** One at a time: whoever comes meanwhile waits for the one under way, which goes on until nothing is waiting. */
    flush: () => (flushing ??= write().finally(() => (flushing = undefined))),
    forgetOld: () => db.transaction((tx) => deleteRefusalsBefore(tx, clock.now() - KEPT_MS)),
    forgetProject: deleteRefusalsOfProject,
  }
}
