import { listAddressesSince } from '../../features/api-keys/index.ts'
import { findProject } from '../../features/projects/index.ts'
import { countCalls, listRefusalJumps } from '../../features/usage/index.ts'
import { addressMatcher } from '../../platform/addresses.ts'
import type { Attention, Scope, Subject } from './attention.ts'

const SERVICE: Subject = { type: 'service', id: 'service', name: 'this service', project_id: null }

export async function refusalRules({ db, projectId, now }: Scope): Promise<Attention[]> {
  const own = await listRefusalJumps(db, now, projectId)
  return Promise.all(
    own.map(async ({ projectId: id, refused, usual }): Promise<Attention> => {
      const project = id === '' ? undefined : await findProject(db, id)
      const where = project ? `in project "${project.name}"` : 'before their project was known'
      return {
        kind: 'refusals.jump',
        severity: 'warning',
        since: null,
        subject: project ? { type: 'project', id, name: project.name, project_id: id } : SERVICE,
        message: `${refused} requests were refused in the last 10 minutes ${where}; ${Math.round(usual)} are usual.`,
        fix: project
          ? {
              command: `jeton refusal list --project ${id}`,
              call: `GET /management/v1/projects/${id}/refusals`,
            }
          : { command: 'jeton usage service --from 1h', call: 'GET /management/v1/usage' },
      }
    }),
  )
}

const HOUR_MS = 60 * 60_000
const MIN_CALLS = 100
/** Loopback is left out: on one's own machine every call comes from there. */
const isPrivate = addressMatcher([
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '100.64.0.0/10',
  'fc00::/7',
])

/** If every call comes from one private address, that is probably a proxy whose forwarded addresses are ignored. */
export async function proxyRule({ db, now }: Scope): Promise<Attention[]> {
  if ((await countCalls(db, now - HOUR_MS)) < MIN_CALLS) return []
  const addresses = await listAddressesSince(db, now - HOUR_MS)
  const [address] = addresses
  if (addresses.length !== 1 || address === undefined || !isPrivate(address)) return []
  return [
    {
      kind: 'proxy.untrusted',
      severity: 'warning',
      since: null,
      subject: SERVICE,
      message: `Every call of the last hour came from ${address}. If that is your proxy, IP allowlists see its address instead of the caller's.`,
      fix: { command: `JETON_TRUSTED_PROXIES=${address}`, call: null },
    },
  ]
}
