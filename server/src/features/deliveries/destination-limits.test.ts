import { expect, test } from 'vitest'
import { DestinationLimits, MAX_BUFFERED, MAX_IN_FLIGHT, MAX_PREFETCH } from './destination-limits.ts'

const NOW = 1_000_000
const success = { succeeded: true, durationMs: 5 }
const failure = { succeeded: false, durationMs: 5 }

/** Starts as many sends as there are permits, and returns how many. */
function startAll(limits: DestinationLimits, id: string, now = NOW): number {
  let started = 0
  while (limits.tryStart(id, now)) started++
  return started
}

function proven(
  id: string,
  end: { succeeded: boolean; durationMs: number },
  limits = new DestinationLimits(),
) {
  limits.tryStart(id, NOW)
  limits.end(id, end, NOW)
  return limits
}

test('a new destination gets 4 permits, a healthy one 64, a slow one 4, a failing one 1', () => {
  expect(startAll(new DestinationLimits(), 'a')).toBe(4)
  expect(startAll(proven('a', success), 'a')).toBe(64)
  expect(startAll(proven('a', { succeeded: true, durationMs: 1_001 }), 'a')).toBe(4)
  expect(startAll(proven('a', failure), 'a')).toBe(1)
})

test('an attempt that says nothing about the destination changes nothing', () => {
  const limits = proven('a', success)
  limits.tryStart('a', NOW)
  limits.end('a', { succeeded: null, durationMs: 0 }, NOW)
  expect(startAll(limits, 'a')).toBe(64)
})

test('a destination is healthy for 30 s after its last success, and failing until it succeeds', () => {
  expect(startAll(proven('a', success), 'a', NOW + 29_000)).toBe(64)
  expect(startAll(proven('a', success), 'a', NOW + 31_000)).toBe(4)
  const failing = proven('a', failure)
  failing.capacities(NOW + 3_600_000)
  expect(startAll(failing, 'a', NOW + 3_600_000)).toBe(1)
})

test('all sends in flight together stay within the limit of the process', () => {
  const limits = new DestinationLimits()
  for (let i = 0; i < 20; i++) proven(`d${i}`, success, limits)
  const started = Array.from({ length: 20 }, (_, i) => startAll(limits, `d${i}`))
  expect(started.reduce((a, b) => a + b)).toBe(MAX_IN_FLIGHT)
  expect(limits.inFlight).toBe(MAX_IN_FLIGHT)
})

test('unhealthy destinations take at most half of the permits', () => {
  const limits = proven('healthy', success)
  const started = Array.from({ length: 200 }, (_, i) => startAll(limits, `new${i}`))
  expect(started.reduce((a, b) => a + b)).toBe(MAX_IN_FLIGHT / 2)
  expect(limits.capacities(NOW).default).toBe(0)
  expect(startAll(limits, 'healthy')).toBe(64)
})

test('a destination that becomes healthy gives its share of the unhealthy half back', () => {
  const limits = new DestinationLimits()
  for (let i = 0; i < 64; i++) startAll(limits, `new${i}`)
  expect(startAll(limits, 'late')).toBe(0)
  limits.end('new0', success, NOW)
  expect(startAll(limits, 'late')).toBe(4)
})

test('capacity is free permits plus prefetch, less what is buffered', () => {
  const limits = proven('fast', success)
  proven('slowish', { succeeded: true, durationMs: 640 }, limits)
  proven('failing', failure, limits)
  const before = limits.capacities(NOW)
  expect(before.byDestination).toEqual({ fast: 64 + MAX_PREFETCH, slowish: 64 + 100, failing: 1 })
  expect([before.default, before.total]).toEqual([4, MAX_BUFFERED])
  limits.tryStart('fast', NOW)
  limits.addBuffered('fast', 1, NOW)
  limits.addBuffered('new', 1, NOW)
  const after = limits.capacities(NOW)
  expect(after.byDestination).toMatchObject({ fast: 64 + MAX_PREFETCH - 2, new: 3 })
  expect(after.total).toBe(MAX_BUFFERED - 2)
})

test('unhealthy destinations get at most the remaining permits of their half', () => {
  const limits = new DestinationLimits()
  for (let i = 0; i < 63; i++) startAll(limits, `hangs${i}`)
  limits.tryStart('hangs63', NOW)
  limits.tryStart('hangs63', NOW)
  proven('failing', failure, limits)
  const { byDestination, default: unknown } = limits.capacities(NOW)
  expect([byDestination.hangs63, byDestination.failing, unknown]).toEqual([2, 1, 2])
})

test('destinations that failed and have nothing to send take no capacity from others', () => {
  const limits = new DestinationLimits()
  for (let i = 0; i < 300; i++) proven(`failed${i}`, failure, limits)
  const { byDestination, default: unknown } = limits.capacities(NOW + 3_600_000)
  expect([unknown, byDestination.failed299]).toEqual([4, 1])
})

test('an idle destination is forgotten after 30 s, unless it fails', () => {
  const limits = proven('healthy', success)
  proven('failing', failure, limits)
  expect(Object.keys(limits.capacities(NOW + 31_000).byDestination)).toEqual(['failing'])
})

test('nothing is claimed ahead for a destination whose buffered deliveries expired, until its next success', () => {
  const limits = proven('a', success)
  limits.addBuffered('a', 1, NOW)
  limits.expireBuffered('a', NOW)
  expect(limits.capacities(NOW).byDestination).toEqual({ a: 4 })
  proven('a', success, limits)
  expect(limits.capacities(NOW).byDestination).toEqual({ a: 64 + MAX_PREFETCH })
})
