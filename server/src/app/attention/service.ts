import { listStaleProcesses } from '../../features/processes/index.ts'
import { hasProjectNamed } from '../../features/projects/index.ts'
import type { Database } from '../../platform/database/index.ts'
import { SAMPLE_PROJECT } from '../first-start.ts'
import { type Attention, type Subject, word } from './attention.ts'

/** A process confirms the state of keys every second. */
const MAX_KEY_STATE_AGE_MS = 10_000

const SERVICE: Subject = { type: 'service', id: 'service', name: 'this service', project_id: null }

export interface ServiceState {
  readonly db: Database
  /** Why the database accepts no writes; undefined if it does. */
  readonly whyNotWritable: () => Promise<string | undefined>
  /** Ids of encryption keys that stored secrets require and this process does not have. */
  readonly missingKeyIds: () => Promise<readonly string[]>
  /** Whether clients on other machines reach this service. */
  readonly isExposed: boolean
}

export async function serviceRules(state: ServiceState): Promise<Attention[]> {
  const [reason, missing, hasSample] = [
    await state.whyNotWritable(),
    await state.missingKeyIds(),
    state.isExposed && (await hasProjectNamed(state.db, SAMPLE_PROJECT)),
  ]
  // Without writes there are no heartbeats, which says nothing about what a process has read.
  const found: Attention[] = reason === undefined ? await staleProcesses(state.db) : []
  if (reason !== undefined)
    found.push({
      kind: 'store.not_writable',
      severity: 'error',
      since: null,
      subject: SERVICE,
      message: `The database accepts no writes: ${reason}.`,
      fix: { command: 'jeton doctor', call: 'GET /management/v1/checks' },
    })
  if (missing.length > 0)
    found.push({
      kind: 'encryption_key.missing',
      severity: 'error',
      since: null,
      subject: SERVICE,
      message: `Webhook secrets are encrypted with the key ${missing.join(', ')}, which this process does not have.`,
      fix: { command: 'JETON_ENCRYPTION_KEY=<current key>,<missing key>', call: null },
    })
  if (hasSample)
    found.push({
      kind: 'sample.in_production',
      severity: 'warning',
      since: null,
      subject: SERVICE,
      message: `The project "${SAMPLE_PROJECT}" exists, with a key that the first start printed.`,
      fix: { command: `jeton project delete ${word(SAMPLE_PROJECT)} --yes`, call: null },
    })
  return found
}

async function staleProcesses(db: Database): Promise<Attention[]> {
  const now = await db.now()
  const stale = await listStaleProcesses(db, { now, maxAgeMs: MAX_KEY_STATE_AGE_MS })
  return stale.map(({ row, ageMs }) => ({
    kind: 'process.stale_key_state',
    severity: 'error',
    since: now - ageMs,
    subject: { type: 'process', id: row.id, name: `${row.host} (pid ${row.pid})`, project_id: null },
    message: `The process on ${row.host} (pid ${row.pid}) has not confirmed the state of keys for ${Math.round(ageMs / 1000)} s. After 30 s it returns 503.`,
    fix: { command: 'jeton process list', call: 'GET /management/v1/processes' },
  }))
}
