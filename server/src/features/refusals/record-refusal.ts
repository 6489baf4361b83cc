import { withoutCredentials } from '../../contract/ids.ts'
import type { Problem } from '../../contract/problem.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Database } from '../../platform/database/index.ts'
import { type ErrorContext, pathOf } from '../../platform/http/index.ts'
import type { UsageCounter } from '../usage/index.ts'
import {
  deleteRefusalsOfProject,
  deleteSomeRefusalsBefore,
  findOldestKept,
  insertRefusals,
  type RefusalRow,
} from './refusal.store.ts'
import { RefusalSampler } from './refusal-sampler.ts'

const RETENTION_MS = 24 * 60 * 60 * 1000
const MAX_PER_PROJECT = 10_000
/** Limits memory during a flood. Refusals above it are counted but not recorded. */
const MAX_WAITING = 5_000
const ROWS_PER_STATEMENT = 500

const printable = (text: string, most: number): string => text.replace(/[^\x20-\x7e]/g, '?').slice(0, most)

/** Text of the caller, without credentials and short enough to be stored. */
const stored = (text: string): string => withoutCredentials(printable(text, 400)).slice(0, 200)

const GATEWAY = '/gateway/authorize'

/** The path that a proxy asked about, from where the gateway reads it; null for any other request. */
function originalPathOf({ url, headers }: ErrorContext): string | null {
  const asked = pathOf(url)
  if (asked !== GATEWAY && !asked.startsWith(`${GATEWAY}/`)) return null
  const sent = headers['x-original-uri'] ?? headers['x-forwarded-uri'] ?? asked.slice(GATEWAY.length)
  return pathOf(String(sent)) || null
}

function rowOf(request: ErrorContext, problem: Problem, at: number): RefusalRow {
  const { caller } = request
  const originalPath = originalPathOf(request)
  return {
    request_id: request.id,
    project_id: problem.refusal?.projectId ?? '',
    at,
    method: request.method,
    path: stored(pathOf(request.url)),
    status: problem.status,
    key: problem.key,
    step: problem.refusal?.step ?? problem.key,
    key_id: problem.refusal?.keyId ?? null,
    address: caller.ip,
    socket_address: caller.socket,
    forwarded: caller.forwarded === null ? null : stored(caller.forwarded),
    original_path: originalPath === null ? null : stored(originalPath),
    required_scope: problem.refusal?.requiredScope ?? null,
  }
}

/** Groups repeated refusals: by key, or by address if no project is known. */
const kindOf = ({ project_id, step, key_id, address }: RefusalRow): string =>
  `${project_id} ${step} ${project_id === '' ? address : key_id}`

interface RecorderDeps {
  readonly db: Database
  readonly clock: Clock
  readonly usage: UsageCounter
}

/** Collects refusals in memory and writes them in batches, so that requests do not wait. */
export function createRefusalRecorder({ db, clock, usage }: RecorderDeps) {
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

  /** Reads outside of a transaction, so that projects with nothing to trim need none. */
  async function trim(projectId: string): Promise<void> {
    const oldest = await findOldestKept(db, projectId, MAX_PER_PROJECT)
    if (oldest !== undefined) await db.transaction((tx) => deleteRefusalsOfProject(tx, projectId, oldest))
  }

  return {
    record(request: ErrorContext, problem: Problem): void {
      usage.refusal(problem.refusal?.step ?? problem.key, problem.refusal ?? {})
      if (waiting.length >= MAX_WAITING) return
      const row = rowOf(request, problem, clock.now())
      if (sampler.shouldRecord(kindOf(row), clock.monotonic())) waiting.push(row)
    },
    /** Runs once at a time. Concurrent callers wait for the running flush, which continues until nothing is waiting. */
    flush: () => (flushing ??= write().finally(() => (flushing = undefined))),
    async forgetOld(): Promise<void> {
      const before = clock.now() - RETENTION_MS
      let deleted: number
      do deleted = await db.transaction((tx) => deleteSomeRefusalsBefore(tx, before, ROWS_PER_STATEMENT))
      while (deleted === ROWS_PER_STATEMENT)
    },
    forgetProject: deleteRefusalsOfProject,
  }
}
