import type { ProgramContext } from '../../platform/database/index.ts'
import { DIGEST_BYTES, type IssueInput, type IssueOutcome } from './issue.ts'
import { type IssueMessage, packOutcomes, unpackInput } from './issue-message.ts'
import { expiryOf, LIFETIME_MS, secondsUntilFree } from './token.ts'

/** Runs inside the SQLite thread, in a transaction of its own, which excludes every other writer: no row needs a lock. */
export const run = (context: ProgramContext, message: IssueMessage): Float64Array =>
  packOutcomes(issueAll(context, unpackInput(message)))

function issueAll({ prepare }: ProgramContext, asked: IssueInput): IssueOutcome[] {
  const latest = prepare('select max(expires_at) as at from tokens').get() as { at: number | null }
  const time = Math.max(asked.now, (latest.at ?? 0) - LIFETIME_MS)
  const expiresAt = expiryOf(time)
  const holders = createHolders(prepare, time)
  const insert = prepare(
    'insert into tokens (project_id, digest, key_id, epoch, scope, expires_at, revoked_at) values (?, ?, ?, ?, ?, ?, null)',
  )

  function decide(projectId: string, i: number): IssueOutcome {
    const keyId = asked.keyIds[i]!
    const project = holders.project(projectId)
    const key = holders.key(projectId, keyId)
    if (!project || !key || key.state !== 'active' || key.version !== asked.keyVersions[i])
      return { status: 'stale' }
    if (key.limit !== null && !holders.hasRoom(key)) return full('key', key)
    if (!holders.hasRoom(project)) return full('project', project)
    project.credits--
    if (key.limit !== null) key.credits--
    const digest = asked.digests.subarray(i * DIGEST_BYTES, (i + 1) * DIGEST_BYTES)
    insert.run(projectId, digest, keyId, key.epoch, asked.scopes[i]!, expiresAt)
    return { status: 'issued', epoch: key.epoch, expiresAt }
  }

  const full = (holder: 'project' | 'key', { fullUntil }: Holder): IssueOutcome => ({
    status: 'full',
    holder,
    retryAfterSeconds: secondsUntilFree(fullUntil ?? time, time),
  })

  const outcomes = asked.projectIds.map(decide)
  holders.save()
  return outcomes
}

/** A project or a key, with the places that it has left. */
interface Holder {
  readonly where: readonly string[]
  readonly limit: number | null
  credits: number
  fullUntil: number | null
  /** As read, so that only what has changed is written. */
  readonly asRead: string
}

interface KeyHolder extends Holder {
  readonly state: string
  readonly epoch: number
  readonly version: number
}

const COUNT = `select count(*) as active, min(t.expires_at) as oldest
  from tokens t join api_keys k on k.project_id = t.project_id and k.id = t.key_id and k.epoch = t.epoch
  where t.expires_at > ? and t.revoked_at is null and t.project_id = ?`

function createHolders(prepare: ProgramContext['prepare'], time: number) {
  const projects = new Map<string, Holder | undefined>()
  const keys = new Map<string, KeyHolder | undefined>()
  const fingerprint = (credits: number, fullUntil: number | null) => `${credits} ${fullUntil}`

  function holderOf(where: readonly string[], row: Record<string, never>): Holder {
    const { credits, full_until: fullUntil, token_limit: limit } = row
    return {
      where,
      limit: limit ?? null,
      credits: credits!,
      fullUntil: fullUntil ?? null,
      asRead: fingerprint(credits!, fullUntil ?? null),
    }
  }

  function loadProject(id: string): Holder | undefined {
    const row = prepare(
      'select credits, full_until, token_limit from projects where id = ? and deleted_at is null',
    ).get(id)
    return row && holderOf([id], row as never)
  }

  function loadKey(projectId: string, id: string): KeyHolder | undefined {
    const row = prepare(
      'select state, epoch, version, credits, full_until, token_limit from api_keys where project_id = ? and id = ?',
    ).get(projectId, id) as Record<string, never> | undefined
    return (
      row && {
        ...holderOf([projectId, id], row),
        state: row.state!,
        epoch: row.epoch!,
        version: row.version!,
      }
    )
  }

  function once<T>(known: Map<string, T>, id: string, load: () => T): T {
    if (!known.has(id)) known.set(id, load())
    return known.get(id)!
  }

  function recount(holder: Holder): void {
    const counted = prepare(holder.where.length === 1 ? COUNT : `${COUNT} and t.key_id = ?`).get(
      time,
      ...holder.where,
    )
    const { active, oldest } = counted as { active: number; oldest: number | null }
    holder.credits = Math.max(0, holder.limit! - active)
    holder.fullUntil = holder.credits > 0 ? null : oldest
  }

  return {
    project: (id: string) => once(projects, id, () => loadProject(id)),
    key: (projectId: string, id: string) => once(keys, `${projectId} ${id}`, () => loadKey(projectId, id)),
    hasRoom(holder: Holder): boolean {
      if (holder.credits > 0) return true
      if (holder.fullUntil !== null && holder.fullUntil > time) return false
      recount(holder)
      return holder.credits > 0
    },
    save(): void {
      for (const holder of [...projects.values(), ...keys.values()]) {
        if (!holder || fingerprint(holder.credits, holder.fullUntil) === holder.asRead) continue
        const target =
          holder.where.length === 1
            ? 'projects set credits = ?, full_until = ? where id = ?'
            : 'api_keys set credits = ?, full_until = ? where project_id = ? and id = ?'
        prepare(`update ${target}`).run(holder.credits, holder.fullUntil, ...holder.where)
      }
    },
  }
}
