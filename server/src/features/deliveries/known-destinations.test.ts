import { expect, test } from 'vitest'
import { type ClaimedDestination, DESTINATION_COLUMNS } from './exchange.ts'
import { destinationOf, liveIn, sameDestination } from './known-destinations.ts'

const row: ClaimedDestination = {
  ...{ project_id: 'proj_1', id: 'wh_1', kind: 'webhook', campaign_id: null, event_name: null },
  ...{ headers: '{}', target_url: 'https://hooks.example/in', events: '["a"]', active: 1 },
  ...{ secret: 'sealed', previous_secret: null, previous_until: null, failing_since: null },
}
const valuesOf = (some: ClaimedDestination) => DESTINATION_COLUMNS.map((name) => some[name])

test('a destination that is as it was is the same object, whichever way it comes', () => {
  const known = destinationOf([...valuesOf(row), '[]'])
  expect(known).toEqual(row)
  expect(destinationOf([...valuesOf(row), '["ev_1"]'])).toBe(known)
  expect(sameDestination({ ...row })).toBe(known)
})

test.each(DESTINATION_COLUMNS)('one whose %s has changed is another', (name) => {
  const before = sameDestination(row)
  const changed = { ...row, [name]: row[name] === 1 ? 0 : 'other' }
  expect(sameDestination(changed)).toEqual(changed)
  expect(sameDestination(changed)).not.toBe(before)
  expect(sameDestination(row)).toEqual(row)
})

test('however many there are, few are remembered, and all are right', () => {
  for (let turn = 0; turn < 2; turn++)
    for (let i = 0; i < 5_000; i++) expect(sameDestination({ ...row, id: `wh_${i}` }).id).toBe(`wh_${i}`)
})

test('what a destination must not get is that of the batch, and the list that it came in is not kept', () => {
  const batch = (skips: string) => liveIn(Buffer.from(JSON.stringify([[...valuesOf(row), skips]])))
  const first = batch('["ev_1"]')
  expect(first).toEqual([{ destination: row, skips: '["ev_1"]' }])
  expect(batch('["ev_1"]')).toBe(first)
  expect(batch('[]')).toEqual([{ destination: row, skips: '[]' }])
  expect(batch('[]')[0]!.destination).toBe(first[0]!.destination)
  const values = [...valuesOf({ ...row, id: 'wh_2' }), 'x'.repeat(300_000)]
  const known = destinationOf(values)
  const again = values.slice()
  values.fill('other')
  expect(destinationOf(again)).toBe(known)
})
