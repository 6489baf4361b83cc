import { describe, expect, test } from 'vitest'
import { ago, cellOf, headingOf, plural } from './format.ts'
import { readCatalogue } from './operations.ts'
import { aligned } from './print.ts'

const NOW = Date.UTC(2026, 0, 15, 12)
const person = { person: true, now: NOW }
const program = { person: false, now: NOW }

test.each([
  [0, 'just now'],
  [999, 'just now'],
  [1_000, '1 s ago'],
  [59_999, '59 s ago'],
  [3_600_000, '1 h ago'],
  [93 * 86_400_000, '93 d ago'],
  [-5_000, 'in 5 s'],
])('%i ms before now is %s', (ms, words) => {
  expect(ago(NOW - ms, NOW)).toBe(words)
})

describe('a cell', () => {
  test('is relative and short for people, exact for programs', () => {
    const at = new Date(NOW - 60_000).toISOString()
    expect(cellOf('last_used_at', at, person, true)).toBe('1 min ago')
    expect(cellOf('last_used_at', at, program, true)).toBe(at)
    const many = ['a', 'b', 'c', 'd', 'e']
    expect(cellOf('permissions', many, person, true)).toBe('a b c +2')
    expect(cellOf('permissions', many, program, true)).toBe('a,b,c,d,e')
  })

  test('without a value is a dash for people and empty for programs', () => {
    expect([null, undefined, []].map((value) => cellOf('x', value, person))).toEqual(['–', '–', '–'])
    expect([null, undefined, []].map((value) => cellOf('x', value, program))).toEqual(['', '', ''])
  })

  test('never contains control characters', () => {
    expect(cellOf('name', 'a\nb\tc\u009bd', program)).toBe('a b c d')
  })
})

test('headings omit suffixes that only programs need', () => {
  expect(['last_used_at', 'key_id', 'active_tokens', 'at'].map(headingOf)).toEqual([
    'LAST USED',
    'KEY',
    'ACTIVE TOKENS',
    'AT',
  ])
})

test('columns are aligned, also with other alphabets', () => {
  expect(
    aligned([
      ['a', 'b'],
      ['ключ', 'c'],
    ]),
  ).toEqual(['a      b', 'ключ   c'])
})

test('every noun of the command line has the right plural', () => {
  const nouns = new Set([...readCatalogue().nouns, 'customer', 'campaign', 'member', 'reward'])
  expect([...nouns].map(plural).sort()).toEqual([
    'audit entries',
    'campaigns',
    'customers',
    'deliveries',
    'distributions',
    'events',
    'jobs',
    'keys',
    'members',
    'operators',
    'problems',
    'processes',
    'projects',
    'queues',
    'refusals',
    'rewards',
    'sessions',
    'stores',
    'tokens',
    'usage',
    'webhooks',
  ])
})
