import { Ajv } from 'ajv'
import { sql } from 'kysely'
import { beforeEach, describe, expect, test } from 'vitest'
import { eachEngine } from '../../../test/engines.ts'
import { redemptionData } from '../../../test/reported-redemption.ts'
import { MIGRATIONS } from '../../app/migrations/index.ts'
import { systemClock } from '../../platform/clock.ts'
import { type Database, migrate } from '../../platform/database/index.ts'
import { createVault } from '../../platform/encryption.ts'
import { createEgressPolicy } from '../../platform/outbound/index.ts'
import { randomBytes } from '../../platform/secrets.ts'
import { createCampaign } from '../campaigns/index.ts'
import { EVENT_SCHEMAS, type EventTables, writeEvent } from '../events/index.ts'
import { createProjectIn } from '../projects/index.ts'
import type { PublicationTables } from '../publications/index.ts'
import { createDestination } from '../webhooks/create-destination.ts'
import { deleteDestination, disableDestination } from '../webhooks/destination-changes.ts'
import type { DeliveryTables } from './delivery.ts'
import { NO_CAPACITY } from './destination-limits.ts'
import { fanOut } from './fan-out.ts'
import { relayBatch } from './outbox.store.ts'
import { payloadOf } from './payload.ts'

const ACTOR = { type: 'system', id: 'test', address: null, requestId: null } as const
const KIND = 'EVENTS.CUSTOMER.REWARD_REDEMPTIONS.COMPLETED'
const holdsToItsSchema = new Ajv({ strict: true }).compile(EVENT_SCHEMAS[0]!.schema)

eachEngine((engine) => {
  let db: Database
  let projectId: string
  let campaignId: string
  const random = randomBytes
  const deps = () => ({
    db,
    random,
    vault: createVault(Buffer.alloc(32, 1), random),
    egressPolicy: createEgressPolicy([]),
  })

  beforeEach(async () => {
    db = await engine.open({ clock: systemClock })
    await migrate(db, { migrations: MIGRATIONS, program: '99.0.0' })
    const project = await db.transaction((tx) =>
      createProjectIn({ random }, tx, { name: 'Club', actor: ACTOR }),
    )
    projectId = project.id
    campaignId = await newCampaign('Club')
  })

  const newCampaign = (name: string) =>
    db.transaction(async (tx) => {
      const voucher = { type: 'LOYALTY_CARD', loyalty_card: { points: 0 } } as const
      const fields = { name, campaign_type: 'LOYALTY_PROGRAM', voucher } as const
      return (await createCampaign({ random }, tx, { projectId, fields })).id
    })

  async function subscribe(more: object = {}): Promise<string> {
    const kind = 'campaign_id' in more ? 'distribution' : 'webhook'
    const fields = { target_url: 'https://hooks.example/in', ...more }
    return (await createDestination(deps(), { projectId, kind, fields, actor: ACTOR })).row.id
  }

  const happen = (data: object = redemptionData(), ofCampaign: string | null = campaignId) =>
    db.transaction((tx) =>
      writeEvent({ random }, tx, {
        projectId,
        kind: KIND,
        entityId: 'cust_7',
        campaignId: ofCampaign,
        groupId: 'v-1',
        source: { channel: 'API', apiKey: { name: 'pos', app_id: 'a' } },
        data,
        occurredAt: Date.UTC(2026, 0, 15, 12),
      }),
    )

  const run = async () => {
    const all = { from: 0, limit: 500 }
    const unclaimed = { capacities: NO_CAPACITY, claimId: '', claimedAt: 0 }
    while ((await relayBatch(db, all, (batch) => fanOut({ batch, ...unclaimed }))).events.length > 0);
  }

  const deliveries = () =>
    db
      .read<DeliveryTables & EventTables>()
      .selectFrom('deliveries as d')
      .innerJoin('events as e', 'e.id', 'd.event_id')
      .selectAll('d')
      .select('e.data')
      .execute()

  const pairs = async () =>
    (await deliveries()).map(({ event_id, destination_id }) => `${event_id} ${destination_id}`).sort()

  describe('an event', () => {
    test('an event goes once to every destination that existed when it was written, and to no later one', async () => {
      const before = [await subscribe(), await subscribe()]
      const { id } = await happen()
      await subscribe()
      await run()
      await run()
      expect(await pairs()).toEqual(before.map((one) => `${id} ${one}`).sort())
    })

    test('a destination created under a fast clock misses no event, because commits decide and not clocks', async () => {
      const webhook = await subscribe()
      await db.transaction(async (tx) => {
        await sql`update destinations set created_at = ${Date.now() + 3_600_000}`.execute(
          tx.write<never>() as never,
        )
      })
      const { id } = await happen()
      await run()
      expect(await pairs()).toEqual([`${id} ${webhook}`])
    })

    test('deliveries are held for disabled destinations and not created for deleted ones', async () => {
      const [disabled, deleted] = [await subscribe(), await subscribe()]
      const which = (id: string) => ({ projectId, kind: 'webhook', id, actor: ACTOR }) as const
      await disableDestination(deps(), which(disabled))
      const { id } = await happen()
      await deleteDestination(deps(), which(deleted))
      await run()
      expect(await pairs()).toEqual([`${id} ${disabled}`])
    })

    test('an event of a campaign goes only to the distributions of that campaign', async () => {
      const other = await newCampaign('Other')
      const ours = await subscribe({ name: 'Ours', campaign_id: campaignId })
      await subscribe({ name: 'Theirs', campaign_id: other })
      const { id } = await happen()
      await happen(redemptionData(), null)
      await run()
      expect(await pairs()).toEqual([`${id} ${ours}`])
    })

    test('an event never goes to another project', async () => {
      await subscribe()
      const stranger = await db.transaction((tx) =>
        createProjectIn({ random }, tx, { name: 'Stranger', actor: ACTOR }),
      )
      const home = projectId
      projectId = stranger.id
      await happen()
      await run()
      projectId = home
      expect(await pairs()).toEqual([])
    })

    test('an event is fanned out once, even if several workers try at the same time', async () => {
      for (let i = 0; i < 3; i++) await subscribe()
      for (let i = 0; i < 30; i++) await happen()
      await Promise.all(Array.from({ length: 6 }, run))
      const all = await pairs()
      expect(all).toHaveLength(90)
      expect(new Set(all).size).toBe(90)
    })
  })

  describe('payloads', () => {
    test('a webhook payload matches the published schema and carries the stored fields', async () => {
      const webhook = await subscribe()
      const event = await happen()
      await run()
      const [row] = await deliveries()
      const bytes = payloadOf(row!, row!.data)
      const payload = JSON.parse(bytes)
      expect(holdsToItsSchema(payload), JSON.stringify(holdsToItsSchema.errors)).toBe(true)
      expect(bytes).toBe(JSON.stringify(payload))
      expect(bytes).toContain(JSON.stringify(redemptionData()).slice(0, -1))
      expect(payload).toMatchObject({
        id: row!.id,
        project_id: projectId,
        type: KIND,
        source: { id: webhook, object: 'webhook', target_url: 'https://hooks.example/in' },
        event: {
          id: event.id,
          type: 'customer.reward_redemptions.completed',
          created_at: '2026-01-15T12:00:00.000Z',
          entity_id: 'cust_7',
          group_id: 'v-1',
          event_source: { channel: 'API', api_key: { name: 'pos', app_id: 'a' } },
        },
      })
      expect(payload.data).not.toHaveProperty('publication')
    })

    test('a distribution payload carries its publication, which is stored', async () => {
      const distribution = await subscribe({ name: 'CRM', campaign_id: campaignId, event_name: 'club.mug' })
      const event = await happen()
      await run()
      const [row] = await deliveries()
      const payload = JSON.parse(payloadOf(row!, row!.data))
      expect(holdsToItsSchema(payload), JSON.stringify(holdsToItsSchema.errors)).toBe(true)
      expect(payload.type).toBe('club.mug')
      const { publication } = payload.data
      expect(publication).toMatchObject({
        customer_id: 'cust_7',
        tracking_id: 'crm-7',
        metadata: { source_type: 'redemption', source_id: 'r_1', distribution_id: distribution },
        // A MATERIAL reward issues no voucher, so the loyalty card is sent.
        voucher: { id: 'v_1', code: 'CARD-1' },
        vouchers_id: ['v_1'],
      })
      const [stored] = await db.read<PublicationTables>().selectFrom('publications').selectAll().execute()
      expect(stored).toMatchObject({
        project_id: projectId,
        id: publication.id,
        event_id: event.id,
        distribution_id: distribution,
        customer_id: 'cust_7',
        data: JSON.stringify(publication),
        created_at: Date.parse(publication.created_at),
      })
    })

    test('a distribution payload for a CAMPAIGN reward carries the issued voucher', async () => {
      await subscribe({ name: 'CRM', campaign_id: campaignId })
      const data = redemptionData()
      await happen({
        ...data,
        reward: { ...data.reward, type: 'CAMPAIGN', voucher: { id: 'v_2', code: 'GIFT' } },
      })
      await run()
      const [row] = await deliveries()
      const { publication } = JSON.parse(payloadOf(row!, row!.data)).data
      expect(publication).toMatchObject({ voucher: { id: 'v_2', code: 'GIFT' }, vouchers_id: ['v_2'] })
    })
  })
})
