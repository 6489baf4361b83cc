import { expect, test } from 'vitest'
import { IN_FLIGHT_MOST, Shares } from './shares.ts'

const at = (id: string) => ({ project_id: 'proj_a', id })
const WELL = { succeeded: true, durationMs: 5 }
const SLOW = { succeeded: true, durationMs: 3_000 }
const BADLY = { succeeded: false, durationMs: 5 }

const roomOf = (shares: Shares, id: string) =>
  shares.rooms().find((one) => one.id === id)?.room ?? shares.share

function send(shares: Shares, id: string, outcome: Parameters<Shares['end']>[1]): void {
  shares.begin(at(id))
  shares.end(at(id), outcome)
}

test('a healthy destination soon gets all that it can take, and no more', () => {
  const shares = new Shares()
  expect(roomOf(shares, 'wh_1')).toBe(4)
  // One stays in flight, so that it is remembered.
  shares.begin(at('wh_1'))
  for (let i = 0; i < 10; i++) send(shares, 'wh_1', WELL)
  // As many as may be in flight, and twelve times as many that wait for the place of one that ends.
  expect(roomOf(shares, 'wh_1')).toBe(831)
  for (let i = 1; i < 64; i++) {
    expect(shares.mayBegin(at('wh_1'))).toBe(true)
    shares.begin(at('wh_1'))
  }
  expect(shares.mayBegin(at('wh_1'))).toBe(false)
  for (let i = 0; i < 768; i++) shares.wait(at('wh_1'), 1)
  expect(roomOf(shares, 'wh_1')).toBe(0)
})

test('quick is who answers at once, or has yet to answer', () => {
  const shares = new Shares()
  for (let i = 0; i < 5; i++) {
    expect(shares.isQuick(at('wh_1'))).toBe(true)
    send(shares, 'wh_1', WELL)
  }
  send(shares, 'wh_1', { succeeded: true, durationMs: 900 })
  expect(shares.isQuick(at('wh_1'))).toBe(false)
  for (let i = 0; i < 10; i++) send(shares, 'wh_1', WELL)
  expect(shares.isQuick(at('wh_1'))).toBe(true)
  send(shares, 'wh_1', BADLY)
  expect(shares.isQuick(at('wh_1'))).toBe(false)
})

test('what is claimed ahead takes nobody else a place, and is bounded for all together', () => {
  const shares = new Shares()
  const ids = Array.from({ length: 4 }, (_, i) => `wh_${i}`)
  for (const id of ids) {
    for (let i = 0; i < 10; i++) send(shares, id, WELL)
    for (let i = 0; i < 64; i++) shares.begin(at(id))
  }
  expect(shares.rooms().reduce((sum, { room }) => sum + room, 0)).toBe(1_024)
  for (const { id, room } of shares.rooms()) for (let i = 0; i < room; i++) shares.wait(at(id), 1)
  expect(shares.rooms().every(({ room }) => room === 0)).toBe(true)
  expect(shares.free).toBe(IN_FLIGHT_MOST - 4 * 64)
  expect(roomOf(shares, 'wh_new')).toBe(4)
})

test('one that fails gets a single send at a time until it succeeds', () => {
  const shares = new Shares()
  send(shares, 'wh_1', BADLY)
  expect(roomOf(shares, 'wh_1')).toBe(1)
  shares.begin(at('wh_1'))
  expect(roomOf(shares, 'wh_1')).toBe(0)
  shares.begin(at('wh_1'))
  shares.end(at('wh_1'), WELL)
  expect(roomOf(shares, 'wh_1')).toBe(1)
})

test('one that is slow earns no more room', () => {
  const shares = new Shares()
  shares.begin(at('wh_1'))
  for (let i = 0; i < 10; i++) send(shares, 'wh_1', SLOW)
  expect(roomOf(shares, 'wh_1')).toBe(3)
})

test('those that fail take half at most, however many there are, and take turns', () => {
  const shares = new Shares()
  const ids = Array.from({ length: 1_000 }, (_, i) => `wh_${i}`)
  for (const id of ids) send(shares, id, BADLY)
  const served = new Set<string>()
  for (let turn = 0; turn < 4; turn++) {
    const granted = shares.rooms().filter(({ room }) => room > 0)
    expect(granted).toHaveLength(IN_FLIGHT_MOST / 2)
    for (const { id } of granted) served.add(id)
  }
  expect(served.size).toBe(1_000)
  for (const { id } of shares.rooms().filter(({ room }) => room > 0)) shares.begin(at(id))
  expect(shares.rooms().every(({ room }) => room === 0)).toBe(true)
})

test('nor do those that have yet to answer for the first time', () => {
  const shares = new Shares()
  for (let i = 0; shares.share > 0; i++) for (let n = 0; n < 4; n++) shares.begin(at(`wh_${i}`))
  expect(shares.inFlight).toBe(IN_FLIGHT_MOST / 2)
  // One that is known to be well still finds room.
  shares.begin(at('wh_well'))
  send(shares, 'wh_well', WELL)
  expect(roomOf(shares, 'wh_well')).toBeGreaterThan(0)
})

test('one that has long had nothing to send begins small again', () => {
  const shares = new Shares()
  for (let i = 0; i < 10; i++) send(shares, 'wh_1', WELL)
  for (let claim = 1; claim <= 50; claim++) expect(roomOf(shares, 'wh_1')).toBe(832)
  expect(roomOf(shares, 'wh_1')).toBe(4)
})

test('a place is kept in flight, then among those that wait where all goes well, and can be given back', () => {
  const shares = new Shares()
  expect(Array.from({ length: 17 }, () => shares.reserve(at('wh_new')))).toEqual([
    ...Array(4).fill('in flight'),
    ...Array(12).fill('waiting'),
    undefined,
  ])
  for (let i = 0; i < 12; i++) shares.letGo(at('wh_new'), 'waiting')
  shares.letGo(at('wh_new'), 'in flight')
  expect(shares.inFlight).toBe(3)
  expect(shares.reserve(at('wh_new'))).toBe('in flight')

  for (let i = 0; i < 10; i++) send(shares, 'wh_1', WELL)
  for (let i = 0; i < 64; i++) expect(shares.reserve(at('wh_1'))).toBe('in flight')
  for (let i = 0; i < 768; i++) expect(shares.reserve(at('wh_1'))).toBe('waiting')
  expect(shares.reserve(at('wh_1'))).toBeUndefined()
  shares.letGo(at('wh_1'), 'waiting')
  expect([shares.waiting, shares.reserve(at('wh_1'))]).toEqual([767, 'waiting'])
})

test('those that have yet to answer leave half of what may wait to others', () => {
  const shares = new Shares()
  for (let i = 0; i < 60; i++) for (let n = 0; n < 16; n++) shares.reserve(at(`wh_new_${i}`))
  expect([shares.waiting, shares.inFlight]).toEqual([512, 240])
  for (let i = 0; i < 10; i++) send(shares, 'wh_1', WELL)
  for (let n = 0; n < 64; n++) expect(shares.reserve(at('wh_1'))).toBe('in flight')
  expect(shares.reserve(at('wh_1'))).toBe('waiting')
})

test('no place is kept for one that fails beyond its single send, nor beyond the half', () => {
  const shares = new Shares()
  // Refused at once, in no time.
  send(shares, 'wh_1', { succeeded: false, durationMs: 0 })
  expect(shares.reserve(at('wh_1'))).toBe('in flight')
  expect(shares.reserve(at('wh_1'))).toBeUndefined()
  for (let i = 0; shares.share > 0; i++) shares.reserve(at(`wh_new_${i}`))
  expect(shares.reserve(at('wh_other'))).toBeUndefined()
})

test('no more is claimed ahead than begins within a second, as fast as it answers', () => {
  const shares = new Shares()
  // The first answer counts as it is.
  for (let i = 0; i < 4; i++) send(shares, 'wh_1', { succeeded: true, durationMs: 500 })
  expect(roomOf(shares, 'wh_1')).toBe(64 + 128)
  for (let i = 0; i < 64; i++) expect(shares.reserve(at('wh_1'))).toBe('in flight')
  for (let i = 0; i < 128; i++) expect(shares.reserve(at('wh_1'))).toBe('waiting')
  expect(shares.reserve(at('wh_1'))).toBeUndefined()
})

test('what is fanned out leaves places for what is claimed, and counts a claim that is under way', () => {
  const shares = new Shares()
  const ids = Array.from({ length: 20 }, (_, i) => `wh_${i}`)
  for (const id of ids) for (let i = 0; i < 10; i++) send(shares, id, WELL)
  const reserveAll = () => ids.flatMap((id) => Array.from({ length: 64 }, () => shares.reserve(at(id))))
  expect(reserveAll().filter((place) => place === 'in flight')).toHaveLength(IN_FLIGHT_MOST - 64)
  expect([shares.inFlight, shares.mayGrow]).toEqual([IN_FLIGHT_MOST - 64, false])
  shares.end(at('wh_0'), WELL)
  expect(shares.mayGrow).toBe(true)
  shares.beingClaimed = 64
  expect(shares.mayGrow).toBe(false)
})

test('nothing is claimed ahead for one that something has waited for in vain', () => {
  const shares = new Shares()
  for (let i = 0; i < 10; i++) send(shares, 'wh_1', WELL)
  shares.wait(at('wh_1'), 1)
  shares.giveUp(at('wh_1'))
  expect([shares.waiting, roomOf(shares, 'wh_1')]).toEqual([0, 64 + 6])
})
