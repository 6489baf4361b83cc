import { readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import { describe, expect, test } from 'vitest'
import { changed, redemptionData } from '../../../test/reported-redemption.ts'
import { EVENT_KIND_VALUES } from '../../contract/event-kinds.ts'
import { EVENT_SCHEMAS, schemaText } from './index.ts'
import { DATA_FIELDS } from './reward-redemption-completed.ts'

/** Like a receiver's validator: strict, so that an unknown keyword is an error. */
const [entry] = EVENT_SCHEMAS
const validate = new Ajv({ strict: true, strictTypes: true }).compile(entry!.schema)

const envelope = (data: object = redemptionData()) => ({
  id: 'whs_0123456789abcdef',
  project_id: 'proj_0123456789abcdef',
  created_at: '2026-01-15T12:00:00.000Z',
  type: 'EVENTS.CUSTOMER.REWARD_REDEMPTIONS.COMPLETED',
  data,
  source: { id: 'wh_0123456789abcdef', object: 'webhook', target_url: 'https://hooks.example.com' },
  event: {
    id: 'evcus_0123456789abcdef',
    type: 'customer.reward_redemptions.completed',
    created_at: '2026-01-15T12:00:00.000Z',
    entity_id: 'cust_7',
    group_id: 'v-0123456789abcdef01',
    event_source: { channel: 'API', api_key: { name: 'pos', app_id: 'a' } },
  },
})

const publication = () => ({
  id: 'pub_1',
  object: 'publication',
  created_at: '2026-01-15T12:00:00.000Z',
  customer_id: 'cust_7',
  tracking_id: 'crm-7',
  metadata: { source_type: 'redemption', source_id: 'r_1', distribution_id: 'distr_1' },
  channel: 'API',
  source_id: null,
  result: 'SUCCESS',
  customer: { ...redemptionData().customer, summary: null, loyalty: null, referrals: null },
  voucher: { id: 'v_1', code: 'CARD-1' },
  vouchers_id: ['v_1'],
})

const validation = (value: unknown): boolean | string =>
  validate(value) || `${validate.errors![0]!.instancePath} ${validate.errors![0]!.message}`

test('every event kind has one schema, shipped as a file named after its wire name and version', () => {
  expect(EVENT_SCHEMAS.map(({ kind }) => kind)).toEqual(EVENT_KIND_VALUES)
  expect(entry!.file).toBe('customer.reward_redemptions.completed.2024-01-01.json')
  const shipped = readFileSync(new URL(`../../../../docs/events/${entry!.file}`, import.meta.url), 'utf8')
  expect(shipped).toBe(schemaText(entry!))
  expect(shipped).not.toContain('x-says')
})

describe('the schema', () => {
  test('accepts the events of webhooks, and with a publication the events of distributions', () => {
    expect(validation(envelope())).toBe(true)
    expect(validation(envelope({ ...redemptionData(), publication: publication() }))).toBe(true)
  })

  test.each(['id', 'project_id', 'created_at', 'type', 'data', 'source', 'event'])(
    'requires %s in the envelope',
    (name) => {
      const { [name as 'id']: _, ...rest } = envelope()
      expect(validation(rest)).toMatch(`must have required property '${name}'`)
    },
  )

  test('requires every field of the data: the nine documented fields', () => {
    expect(DATA_FIELDS).toEqual(Object.keys(redemptionData()))
    for (const name of DATA_FIELDS) {
      const { [name as 'customer']: _, ...rest } = redemptionData()
      expect(validation(envelope(rest))).toMatch(`must have required property '${name}'`)
    }
  })

  test.each(['holder', 'voucher', 'campaign', 'reward_assignment', 'source', 'balance'])(
    'accepts null for %s if it does not apply',
    (name) => expect(validation(envelope({ ...redemptionData(), [name]: null }))).toBe(true),
  )

  test.each(['customer', 'reward', 'reward_redemption'])('rejects null for %s', (name) => {
    expect(validation(envelope({ ...redemptionData(), [name]: null }))).not.toBe(true)
  })

  test('accepts additional fields, because they break no receiver', () => {
    const data = redemptionData()
    expect(
      validation({ ...envelope({ ...data, more: 1, reward: { ...data.reward, more: 1 } }), more: 1 }),
    ).toBe(true)
  })

  test.each([
    ['a state', 'reward_redemption.state', 'PENDING'],
    ['an unknown reward type', 'reward.type', 'GIFT'],
    ['a balance', 'balance.amount', '400'],
    ['half a point', 'voucher.loyalty_card.balance', 1.5],
    ['a time without milliseconds', 'reward.created_at', '2026-01-15T12:00:00Z'],
    ['an invalid time', 'reward.created_at', '2026-13-15T12:00:00.000Z'],
    ['metadata', 'customer.metadata', 'gold'],
    ['a card', 'voucher.type', 'GIFT_VOUCHER'],
    ['an empty id', 'customer.id', ''],
  ])('rejects %s', (_, path, value) => {
    expect(validation(envelope(changed(path, value)))).not.toBe(true)
  })

  test.each([
    ['id', { id: 'evcus_1' }],
    ['source', { source: { ...envelope().source, object: 'customer' } }],
    ['event.type', { event: { ...envelope().event, type: 'customer.created' } }],
    ['channel', { event: { ...envelope().event, event_source: { channel: 'FAX' } } }],
  ])('refuses another %s', (_, change) => expect(validation({ ...envelope(), ...change })).not.toBe(true))
})

test('the annotated sample in the documentation matches the schema', () => {
  const page = readFileSync(new URL('../../../../docs/reference/events.md', import.meta.url), 'utf8')
  const [, sample] = /```jsonc\n([\s\S]*?)```/.exec(page)!
  expect(validation(JSON.parse(sample!.replace(/ {2}\/\/ .*$/gm, '')))).toBe(true)
})
