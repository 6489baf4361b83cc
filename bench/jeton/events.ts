import { openVault } from '../../server/src/app/encryption-keys.ts'
import { writeEvent } from '../../server/src/features/events/index.ts'
import { createDestination } from '../../server/src/features/webhooks/create-destination.ts'
import { createEgressPolicy } from '../../server/src/platform/outbound/index.ts'
import { randomBytes } from '../../server/src/platform/secrets.ts'
import { redemptionData } from '../../server/test/reported-redemption.ts'
import { ACTOR, createProjects, withDatabase } from './projects.ts'

const KIND = 'EVENTS.CUSTOMER.REWARD_REDEMPTIONS.COMPLETED'
const EVENTS_PER_TRANSACTION = 500

interface Backlog {
  /** Settings of the Jeton that will send the events. */
  readonly env: Readonly<Record<string, string>>
  readonly urls: readonly string[]
  readonly events: number
}

/** Creates a project with a webhook for every URL, and events that wait to be delivered to all of them. */
export async function createBacklog({ env, urls, events }: Backlog): Promise<void> {
  const [client] = await createProjects({ env }, 1)
  const { projectId } = client!
  const source = { channel: 'API', apiKey: { name: 'bench', app_id: 'bench' } } as const
  const ids = { entityId: 'cust_7', campaignId: 'camp_3', groupId: 'v-1' }
  const event = { projectId, kind: KIND, ...ids, source, data: redemptionData() } as const
  await withDatabase({ env }, async (db, config) => {
    const vault = await openVault(db, config)
    const deps = {
      db,
      vault,
      random: randomBytes,
      egressPolicy: createEgressPolicy(config.JETON_WEBHOOK_ALLOW),
    }
    for (const target_url of urls) {
      const fields = { target_url, events: [KIND] as const }
      await createDestination(deps, { projectId, kind: 'webhook', fields, actor: ACTOR })
    }
    for (let written = 0; written < events; written += EVENTS_PER_TRANSACTION)
      await db.transaction(async (tx) => {
        const count = Math.min(EVENTS_PER_TRANSACTION, events - written)
        for (let i = 0; i < count; i++) await writeEvent(deps, tx, event)
      })
  })
}
