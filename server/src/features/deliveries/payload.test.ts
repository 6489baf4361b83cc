import { expect, test } from 'vitest'
import { wireOf } from '../../contract/event-kinds.ts'
import type { EventHead } from '../events/index.ts'
import { makePayload, type PayloadParts, payloadBody, payloadOf } from './payload.ts'

const KIND = 'EVENTS.CUSTOMER.REWARD_REDEMPTIONS.COMPLETED'
const ODD = '"\\\n\u2028\u0001 Zoë 🎁 </script>'

const newEvent = (change: Partial<EventHead> = {}): EventHead => ({
  project_id: 'proj_1',
  id: 'evcus_1',
  kind: KIND,
  version: '2024-01-01',
  entity_id: 'cust_1',
  campaign_id: null,
  group_id: 'v-1',
  channel: 'API',
  key_name: 'pos',
  key_app_id: 'a',
  occurred_at: 1_700_000_000_001,
  created_at: 1_700_000_000_999,
  ...change,
})

const webhook = {
  id: 'wh_1',
  kind: 'webhook',
  target_url: 'https://hooks.example/a?b="c"',
  event_name: null,
} as const

const CASES: [string, EventHead, PayloadParts['destination']][] = [
  ['as usual', newEvent(), webhook],
  [
    'names that need escapes',
    newEvent({ entity_id: ODD, group_id: ODD, key_name: ODD, channel: ODD as never }),
    webhook,
  ],
  ['null in all nullable fields', newEvent({ group_id: null, key_name: null, key_app_id: null }), webhook],
  ['a custom event name', newEvent(), { ...webhook, event_name: ODD }],
  ['an empty event name', newEvent(), { ...webhook, event_name: '' }],
  ['a changed target URL', newEvent(), { ...webhook, target_url: `https://hooks.example/${ODD}` }],
]

test.each(CASES)('the bytes are the JSON of these fields, in this order: %s', (_, event, destination) => {
  const parts = makePayload({ deliveryId: 'whs_1', event, destination })
  const { key_name, key_app_id } = event
  expect(payloadOf(parts, '{"a":1}')).toBe(
    JSON.stringify({
      id: 'whs_1',
      project_id: event.project_id,
      created_at: new Date(event.created_at).toISOString(),
      type: destination.event_name ?? event.kind,
      data: { a: 1 },
      source: { id: destination.id, object: destination.kind, target_url: destination.target_url },
      event: {
        id: event.id,
        type: wireOf(event.kind),
        created_at: new Date(event.occurred_at).toISOString(),
        entity_id: event.entity_id,
        group_id: event.group_id,
        event_source: {
          channel: event.channel,
          ...(key_name !== null && { api_key: { name: key_name, app_id: key_app_id } }),
        },
      },
    }),
  )
})

test('the body is the text in UTF-8', () => {
  const parts = { head: '{"id":"ë","data":', tail: ',"source":"🎁"}' }
  expect(payloadBody(parts, '{"name":"é"}').toString()).toBe(payloadOf(parts, '{"name":"é"}'))
})
