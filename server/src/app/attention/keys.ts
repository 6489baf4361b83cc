import { listOldSecretUses, listUnusedKeys } from '../../features/api-keys/index.ts'
import { isoTime } from '../../platform/http/index.ts'
import { type Attention, MAX_PER_RULE, type Scope } from './attention.ts'

const UNUSED_MS = 90 * 24 * 60 * 60_000

export async function keyRules({ db, projectId, now }: Scope): Promise<Attention[]> {
  const unused = await listUnusedKeys(db, { projectId, before: now - UNUSED_MS, limit: MAX_PER_RULE })
  const uses = await listOldSecretUses(db, { projectId, now, limit: MAX_PER_RULE })
  return [
    ...unused.map(
      (key): Attention => ({
        kind: 'key.unused',
        severity: 'info',
        since: key.last_used_at ?? key.created_at,
        subject: { type: 'api_key', id: key.id, name: key.name, project_id: key.project_id },
        message: `Key "${key.name}" has not been used for 90 days or longer.`,
        fix: {
          command: `jeton key delete ${key.id} --project ${key.project_id} --yes`,
          call: `DELETE /management/v1/projects/${key.project_id}/api-keys/${key.id}`,
        },
      }),
    ),
    ...uses.map(
      ({ key, address, at }): Attention => ({
        kind: 'secret.old_still_used',
        severity: 'warning',
        since: at,
        subject: { type: 'api_key', id: key.id, name: key.name, project_id: key.project_id },
        message: `${address} still uses the old secret of key "${key.name}", which stops working at ${isoTime(key.previous_until ?? now)}.`,
        fix: {
          command: `jeton key show ${key.id} --project ${key.project_id}`,
          call: `GET /management/v1/projects/${key.project_id}/api-keys/${key.id}`,
        },
      }),
    ),
  ]
}
