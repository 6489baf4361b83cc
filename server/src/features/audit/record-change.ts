import { ID_PREFIX } from '../../contract/ids.ts'
import type { Transaction } from '../../platform/database/index.ts'
import type { Actor } from '../../platform/http/index.ts'
import { newId, type RandomBytes } from '../../platform/secrets.ts'
import { insertAuditRow } from './audit.store.ts'

export interface Change {
  readonly actor: Actor
  /** Subject and change, for example `api_key.blocked`. */
  readonly action: string
  readonly projectId: string | null
  readonly subject: { readonly type: string; readonly id: string }
  /** Public view of the resource before the change, without secrets. */
  readonly before: object | null
  readonly after: object | null
}

/** Writes the audit entry in the transaction of the change, so that neither exists without the other. */
export async function recordChange(
  { random }: { random: RandomBytes },
  tx: Transaction,
  change: Change,
): Promise<void> {
  const { actor, subject, before, after } = change
  await insertAuditRow(tx, {
    id: newId(random, ID_PREFIX.audit_entry),
    at: await tx.now(),
    actor_type: actor.type,
    actor_id: actor.id,
    address: actor.address,
    action: change.action,
    project_id: change.projectId,
    subject_type: subject.type,
    subject_id: subject.id,
    before: before && JSON.stringify(before),
    after: after && JSON.stringify(after),
    request_id: actor.requestId,
    // A restore records itself in the tables of the backup, which may be older than this column.
    ...(actor.via && { via: actor.via }),
  })
}
