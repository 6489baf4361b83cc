import { describe, expect, test } from 'vitest'
import fc from '../../../test/properties.ts'
import { TwoGenerations } from './two-generations.ts'

const steps = fc.array(
  fc.record({
    what: fc.constantFrom('set', 'get', 'delete'),
    key: fc.integer({ min: 0, max: 60 }).map(String),
    value: fc.nat(),
  }),
  { maxLength: 400 },
)

describe('a map of two generations', () => {
  test('never holds more than twice what it is to keep, and never tells a value that is not the latest', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 40 }), steps, (kept, history) => {
        const map = new TwoGenerations<number>(kept)
        const latest = new Map<string, number>()
        for (const { what, key, value } of history) {
          if (what === 'set') {
            map.set(key, value)
            latest.set(key, value)
            expect(map.get(key)).toBe(value)
          } else if (what === 'delete') {
            map.delete(key)
            latest.delete(key)
            expect(map.get(key)).toBeUndefined()
          } else expect([undefined, latest.get(key)]).toContain(map.get(key))
          expect(map.size).toBeLessThanOrEqual(2 * kept)
          expect([...map.values()]).toHaveLength(map.size)
        }
      }),
    )
  })

  test('keeps what is used, however much passes by', () => {
    const map = new TwoGenerations<number>(100)
    map.set('used', 1)
    for (let i = 0; i < 10_000; i++) {
      map.set(`passing ${i}`, i)
      if (i % 40 === 0) expect(map.get('used')).toBe(1)
    }
  })

  test('forgets what is not used', () => {
    const map = new TwoGenerations<number>(100)
    map.set('unused', 1)
    for (let i = 0; i < 200; i++) map.set(`passing ${i}`, i)
    expect(map.get('unused')).toBeUndefined()
  })

  test('holds at least as many as it is to keep', () => {
    const map = new TwoGenerations<number>(100)
    for (let i = 0; i < 1_000; i++) map.set(`${i}`, i)
    for (let i = 900; i < 1_000; i++) expect(map.get(`${i}`)).toBe(i)
  })
})
