import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Guard } from '../src/guard/index.ts'
import type { KeyPair, Scope } from '../src/index.ts'
import type { TestJeton } from '../src/testing/index.ts'
import { core, guarding, testing } from './installed.ts'

const MAX_AGE_MS = 5_000
const STEPS = 80
const SCOPES: readonly Scope[] = ['rewards', 'vouchers']
const ADDRESSES = ['203.0.113.7', '2001:db8::7']

let jeton: TestJeton
beforeAll(async () => {
  jeton = await testing.startJeton()
})
afterAll(() => jeton.stop())

/** Random numbers that the seed of the run repeats. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed >>> 0
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

interface Question {
  readonly token: string
  readonly scope: Scope
  readonly address: string
}

const nameOf = ({ token, scope, address }: Question): string => `${token} ${scope} ${address}`

/** Jeton's own answer, without the guard. */
async function isAllowed({ token, scope, address }: Question): Promise<boolean> {
  const headers = { authorization: `Bearer ${token}`, 'x-forwarded-for': address }
  const { status } = await fetch(`${jeton.baseUrl}/gateway/authorize?scope=${scope}`, { headers })
  expect([200, 401, 403]).toContain(status)
  return status === 200
}

test('through random changes of keys, tokens and time, the guard lets in nothing that Jeton has refused for maxAgeMs', async () => {
  const random = randomFrom(Number(process.env.TEST_SEED ?? 1))
  const pick = <Item>(items: readonly Item[]): Item => items[random(items.length)]!
  const { keys } = jeton.management.project(jeton.projectId)
  const guard: Guard = guarding.createGuard({
    baseUrl: jeton.baseUrl,
    projectId: jeton.projectId,
    maxAgeMs: MAX_AGE_MS,
    timeoutMs: 60_000,
    now: jeton.now,
  })
  const owners: (KeyPair & { id: string })[] = [await jeton.newKey(), await jeton.newKey()]
  let tokens: string[] = []
  /** Last time at which Jeton allowed each question. */
  const lastAllowed = new Map<string, number>()

  async function issue(): Promise<void> {
    const scope = [['rewards'], ['rewards', 'vouchers'], ['api']][random(3)] as Scope[]
    const source = core.createTokenSource({ baseUrl: jeton.baseUrl, key: pick(owners), scope })
    const issued = await source.get().catch((error: unknown) => {
      if (!core.JetonError.is(error)) throw error
    })
    if (issued) tokens = [...tokens, issued.value].slice(-3)
  }

  const questions = (): Question[] =>
    tokens.flatMap((token) =>
      SCOPES.flatMap((scope) => ADDRESSES.map((address) => ({ token, scope, address }))),
    )

  async function recordTruth(): Promise<void> {
    for (const question of questions())
      if (await isAllowed(question)) lastAllowed.set(nameOf(question), jeton.now())
  }

  const changes: (() => Promise<unknown>)[] = [
    issue,
    issue,
    () => jeton.advance(random(4_000)),
    () => jeton.advance(random(4_000)),
    () => jeton.advance(random(500_000)),
    () => keys.block(pick(owners).id, { reason: 'random' }).catch(() => undefined),
    () => keys.unblock(pick(owners).id).catch(() => undefined),
    () => keys.revokeTokens(pick(owners).id),
    () =>
      keys
        .update(pick(owners).id, { permissions: pick([['api'], ['rewards'], ['vouchers']] as const) })
        .catch(() => undefined),
    () =>
      keys
        .update(pick(owners).id, { ip_whitelist: pick([[], ADDRESSES, ['127.0.0.1', ADDRESSES[0]!]]) })
        .catch(() => undefined),
  ]

  const seen = { allowed: 0, refused: 0, remembered: 0 }
  for (let step = 0; step < STEPS; step++) {
    await recordTruth()
    await pick(changes)()
    for (const question of questions()) {
      const { token, ...rest } = question
      const askedAt = jeton.now()
      const verdict = await guard.check({ authorization: `Bearer ${token}`, ...rest })
      const truth = await isAllowed(question)
      if (truth) lastAllowed.set(nameOf(question), jeton.now())
      seen[verdict.allowed ? 'allowed' : 'refused']++
      // Refusals are not remembered, so they agree with Jeton at once.
      if (!verdict.allowed) expect(truth, `step ${step}`).toBe(false)
      else if (!truth) {
        seen.remembered++
        const allowedAt = lastAllowed.get(nameOf(question)) ?? Number.NEGATIVE_INFINITY
        expect(askedAt - allowedAt, `step ${step}`).toBeLessThan(MAX_AGE_MS)
      }
    }
  }
  // Else nothing was tested.
  expect(Math.min(seen.allowed, seen.refused, seen.remembered)).toBeGreaterThan(0)
})
