import { needed, promised, shownMs } from './promised.ts'
import type { Stage, TourKey } from './stage.ts'
import type { Step } from './step.ts'
import { saidBy, type TourAnswer } from './wire.ts'

const isActive = ({ body }: TourAnswer): boolean => body.active === true
const changed = (stage: Stage, { path }: TourKey, verb: string) =>
  stage.wire.must({ method: 'POST', path: `${path}/${verb}` })

const regenerate: Step = {
  name: 'new secret',
  proves: 'A regenerated key has a new secret at once; its tokens live on.',
  byHand: 'npx jeton key regenerate Quickstart',
  async run(stage) {
    const before = needed(stage.key, 'a key')
    const { body } = await changed(stage, before, 'regenerate')
    stage.key = { ...before, appToken: String(body.app_token) }
    const old = await stage.issue(before)
    const lives = await stage.wire.ask(stage.introspection(stage.key, needed(stage.token, 'a token')))
    promised(isActive(lives), 'the token died with the secret')
    promised(saidBy(old) === '401 unauthorized', `the old secret was answered with ${saidBy(old)}`)
    return { result: 'the token lives', proof: `the old secret: ${old.status}` }
  },
}

/** Two seconds are promised where all is well, 30 at worst; who waits longer than this sees that something is not well. */
const DEAD_WITHIN_MS = 5_000

const block: Step = {
  name: 'block the key',
  proves: 'Tokens of a blocked key are dead, and it gets no new ones.',
  byHand: 'npx jeton key block Quickstart',
  async run(stage) {
    const key = needed(stage.key, 'a key')
    const token = needed(stage.token, 'a token')
    stage.watcher = await stage.makeKey('watcher')
    const started = performance.now()
    await changed(stage, key, 'block')
    const asked = stage.introspection(stage.watcher, token)
    const answer = await stage.wire.until(asked, (one) => !isActive(one), DEAD_WITHIN_MS)
    const ms = performance.now() - started
    promised(answer.text === '{"active":false}', `after ${shownMs(ms)} it is still vouched for`)
    const refused = await stage.issue(key)
    promised(saidBy(refused) === '401 api_key_blocked', `a new token was answered with ${saidBy(refused)}`)
    return { result: `token dead after ${shownMs(ms)}`, proof: `a new one: ${refused.status}` }
  },
}

const unblock: Step = {
  name: 'unblock it',
  proves: 'Nothing leads back from dead to alive; the key issues new tokens.',
  byHand: 'npx jeton key unblock Quickstart',
  async run(stage) {
    const key = needed(stage.key, 'a key')
    const watcher = needed(stage.watcher, 'a second key')
    await changed(stage, key, 'unblock')
    const old = await stage.wire.ask(stage.introspection(watcher, needed(stage.token, 'a token')))
    promised(old.text === '{"active":false}', 'the old token is alive again')
    const fresh = await stage.issue(key)
    promised(fresh.status === 200, `a new token was answered with ${saidBy(fresh)}`)
    stage.token = String(fresh.body.access_token)
    return { result: 'the old token stays dead', proof: `a new one: ${shownMs(fresh.ms)}` }
  },
}

const LIMIT = 5
const AT_ONCE = 20

const limit: Step = {
  name: 'the limit',
  proves: 'A limit is exact, however many ask at once; who is over it is told when.',
  byHand: `npx jeton key update Quickstart --token-limit ${LIMIT}`,
  async run(stage) {
    const key = await stage.makeKey('limited', { token_limit: LIMIT })
    const answers = await Promise.all(Array.from({ length: AT_ONCE }, () => stage.issue(key)))
    const issued = answers.filter(({ status }) => status === 200).length
    promised(issued === LIMIT, `${issued} of ${AT_ONCE} were issued, and ${LIMIT} may be`)
    const next = await stage.issue(key)
    const after = next.response.headers.get('retry-after')
    promised(saidBy(next) === '429 token_limit_reached', `the next one: ${saidBy(next)}`)
    promised(Number(after) > 0, 'there was no Retry-After')
    return { result: `${LIMIT} of ${AT_ONCE} at once, exactly`, proof: `429, Retry-After: ${after}` }
  },
}

export const KEY_STEPS: readonly Step[] = [regenerate, block, unblock, limit]
