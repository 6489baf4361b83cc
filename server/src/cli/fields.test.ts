import { Command } from 'commander'
import { describe, expect, test } from 'vitest'
import { asSent, givenFor, optionOf } from './fields.ts'

const NOW = Date.UTC(2026, 0, 15, 12)
const since = { name: 'since', schema: { type: 'string', 'x-moment': true }, description: 'Since when.' }

describe('a time', () => {
  test.each([
    ['6h', '2026-01-15T06:00:00.000Z'],
    ['90s', '2026-01-15T11:58:30.000Z'],
    ['30min', '2026-01-15T11:30:00.000Z'],
    ['2d', '2026-01-13T12:00:00.000Z'],
  ])('can be given as how long ago it was: %s', (typed, time) => {
    expect(asSent(since, typed, NOW)).toBe(time)
  })

  test.each(['2026-01-15', '2026-01-15T06:00:00Z', '6', '', 'yesterday', undefined])(
    'in another format is sent unchanged, for the server to validate: %s',
    (typed) => expect(asSent(since, typed, NOW)).toBe(typed),
  )

  test('with an unknown unit is a usage error', () => {
    expect(() => asSent(since, '6x', NOW)).toThrow(/--since: "6x" is not a duration/)
  })

  test('is described in the help, and other text stays unchanged', () => {
    expect(optionOf(since, true)).toMatchObject({
      flags: '--since <time>',
      description: 'Since when. A time, or how long ago: 6h, 30min, 2d. Required.',
    })
    const name = { name: 'name', schema: { type: 'string' }, description: undefined }
    expect(asSent(name, '6h', NOW)).toBe('6h')
  })
})

test.each([
  ['--dry-run', true],
  ['--dry-run true', true],
  ['--dry-run false', false],
  ['--dry-run=false', false],
  ['', undefined],
])('a switch needs no value: %j', (typed, value) => {
  const field = { name: 'dry_run', schema: { type: 'boolean' }, description: undefined }
  const command = new Command().addOption(optionOf(field, false))
  command.parse(typed.split(' ').filter(Boolean), { from: 'user' })
  expect(givenFor(command.opts(), field)).toBe(value)
})

test.each([
  ['--failing', 'failing'],
  ['', undefined],
])('a field with one possible value is a switch of that name: %j', (typed, value) => {
  const field = { name: 'state', schema: { type: 'string', enum: ['failing'] }, description: undefined }
  const command = new Command().addOption(optionOf(field, false))
  command.parse(typed.split(' ').filter(Boolean), { from: 'user' })
  expect(givenFor(command.opts(), field)).toBe(value)
})
