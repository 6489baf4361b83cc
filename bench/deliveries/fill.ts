import { openStore } from '../../server/src/app/compose.ts'
import { openVault } from '../../server/src/app/encryption-keys.ts'
import { writeEvent } from '../../server/src/features/events/index.ts'
import { createDestination } from '../../server/src/features/webhooks/create-destination.ts'
import { systemClock } from '../../server/src/platform/clock.ts'
import { readConfig } from '../../server/src/platform/config/index.ts'
import { createEgressPolicy } from '../../server/src/platform/outbound/index.ts'
import { randomBytes } from '../../server/src/platform/secrets.ts'
import { redemptionData } from '../../server/test/reported-redemption.ts'
import { type JetonClient, prepareProjects } from '../prepare-jeton.ts'
import type { Store } from '../stores.ts'

const ACTOR = { type: 'system', id: 'bench', address: null, requestId: null } as const
const KIND = 'EVENTS.CUSTOMER.REWARD_REDEMPTIONS.COMPLETED'
const EVENTS_PER_TRANSACTION = 500

export interface Filling {
  readonly urls: readonly string[]
  readonly events: number
}

/** A project whose events go to every one of the addresses, with events that wait to be sent. */
export async function fillDeliveries(store: Store, { urls, events }: Filling): Promise<JetonClient> {
  const [client] = await prepareProjects(store, 1)
  const { projectId } = client!
  const config = readConfig(store.env)
  const { db } = await openStore({ config, clock: systemClock })
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
  const data = redemptionData()
  const source = { channel: 'API', apiKey: { name: 'bench', app_id: 'bench' } } as const
  const event = {
    projectId,
    kind: KIND,
    entityId: 'cust_7',
    campaignId: 'camp_3',
    groupId: 'v-1',
    source,
    data,
  } as const
  for (let written = 0; written < events; written += EVENTS_PER_TRANSACTION)
    await db.transaction(async (tx) => {
      const some = Math.min(EVENTS_PER_TRANSACTION, events - written)
      for (let i = 0; i < some; i++) await writeEvent(deps, tx, event)
    })
  await db.close()
  return client!
}
