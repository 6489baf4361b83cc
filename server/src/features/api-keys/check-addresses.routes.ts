import { Type } from 'typebox'
import { notFound } from '../../contract/problem.ts'
import { addressMatcher, parseRange } from '../../platform/addresses.ts'
import type { Database } from '../../platform/database/index.ts'
import { type App, filterField, forOperators, isoTime, strict } from '../../platform/http/index.ts'
import { requireProject } from '../projects/index.ts'
import { ProjectParams, RANGE_RULE } from './api-key.schemas.ts'
import { findApiKey } from './api-key.store.ts'
import { recentAddressesOf } from './recent-addresses.ts'

const Use = Type.Object({ address: Type.String(), last_used_at: Type.String() })

const AddressCheck = Type.Object({
  object: Type.Literal('address_check'),
  mistakes: Type.Array(
    Type.Object({
      entry: Type.String({ description: 'The entry as sent.' }),
      says: Type.String({ description: 'Why it is not accepted.' }),
    }),
    { description: 'Entries that are neither an address nor a range.' },
  ),
  refused: Type.Array(Use, {
    description: 'Addresses of the last 24 hours that the list would refuse, newest first.',
  }),
  allowed: Type.Array(Use, {
    description: 'Addresses of the last 24 hours that the list would allow, newest first.',
  }),
})

const DAY_MS = 24 * 60 * 60_000

/** Tries an allowlist before it is set: entries with a mistake, and clients that it would lock out. */
export function checkAddressRoutes(app: App, { db }: { db: Database }): void {
  async function recentUses(projectId: string, keyId: string | undefined) {
    if (keyId === undefined) return []
    const row = await findApiKey(db, projectId, keyId)
    if (!row) throw notFound('api_key', keyId)
    const since = (await db.now()) - DAY_MS
    return recentAddressesOf(row).filter(({ at }) => at >= since)
  }

  app.post(
    '/management/v1/projects/:project_id/api-keys/check-addresses',
    {
      config: forOperators('editor'),
      schema: {
        tags: ['API keys'],
        operationId: 'key.check-addresses',
        summary: 'Check an IP allowlist before it is set',
        description:
          'Changes nothing. With `key`, it also says which of its recent clients would be refused.',
        params: ProjectParams,
        body: strict(
          {
            ip_whitelist: Type.Array(Type.String({ maxLength: 100 }), {
              maxItems: 200,
              description: 'Addresses and CIDR ranges. An empty list allows all.',
            }),
            key: filterField('Id of an API key.'),
          },
          { examples: [{ ip_whitelist: ['10.0.0.0/8', '203.0.113.7'] }] },
        ),
        response: { 200: AddressCheck },
      },
    },
    async ({ params, body }) => {
      const project = await requireProject(db, params.project_id)
      const uses = await recentUses(project.id, body.key)
      const valid = body.ip_whitelist.filter((entry) => parseRange(entry) !== null)
      const isListed = addressMatcher(valid)
      const isAllowed = (address: string) => body.ip_whitelist.length === 0 || isListed(address)
      const shown = (allowed: boolean) =>
        uses
          .filter(({ address }) => isAllowed(address) === allowed)
          .map(({ address, at }) => ({ address, last_used_at: isoTime(at) }))
      const mistakes = body.ip_whitelist
        .filter((entry) => !valid.includes(entry))
        .map((entry) => ({ entry, says: RANGE_RULE }))
      return { object: 'address_check' as const, mistakes, refused: shown(false), allowed: shown(true) }
    },
  )
}
