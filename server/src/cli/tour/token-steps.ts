import { TOKEN_LIFETIME_SECONDS } from '../../contract/limits.ts'
import { needed, promised, shownMs } from './promised.ts'
import type { Seen, Step } from './step.ts'
import { asBearer, saidBy } from './wire.ts'

const token: Step = {
  name: 'token',
  proves: 'A key pair is exchanged for a token that lives 900 seconds.',
  byHand: 'npx jeton token issue --scope "loyalties rewards"',
  async run(stage): Promise<Seen> {
    stage.key = await stage.makeKey('tour')
    const answer = await stage.issue(stage.key)
    const { access_token, expires_in } = answer.body
    promised(answer.status === 200 && expires_in === TOKEN_LIFETIME_SECONDS, `answered ${saidBy(answer)}`)
    stage.token = String(access_token)
    return { result: 'issued', proof: `${shownMs(answer.ms)}, lives ${expires_in} s` }
  },
}

const introspect: Step = {
  name: 'introspect',
  proves: 'An API can ask whether a token is active, for what, and how long.',
  byHand: 'npx jeton token introspect "$TOKEN"',
  async run(stage) {
    const pair = needed(stage.key, 'a key')
    const answer = await stage.wire.ask(stage.introspection(pair, needed(stage.token, 'a token')))
    const { active, expires_in } = answer.body
    promised(active === true, `answered ${answer.status}, active: ${active}`)
    return { result: `active, ${expires_in} s left`, proof: shownMs(answer.ms) }
  },
}

const use: Step = {
  name: 'use it',
  proves: 'A token opens what its scope covers.',
  byHand: 'curl … /v1/rewards -H "Authorization: Bearer $TOKEN"',
  async run(stage) {
    const credential = asBearer(needed(stage.token, 'a token'))
    const answer = await stage.wire.ask({ method: 'GET', path: '/v1/rewards', credential })
    promised(answer.status === 200, `GET /v1/rewards answered ${saidBy(answer)}`)
    return { result: 'GET /v1/rewards: 200', proof: shownMs(answer.ms) }
  },
}

const wrongScope: Step = {
  name: 'wrong scope',
  proves: 'A token opens nothing beyond its scope, and an operator can see why.',
  byHand: 'npx jeton check "$TOKEN" GET /v1/campaigns',
  async run(stage) {
    const credential = asBearer(needed(stage.token, 'a token'))
    const answer = await stage.wire.ask({ method: 'GET', path: '/v1/campaigns', credential })
    promised(saidBy(answer) === '403 insufficient_scope', `GET /v1/campaigns answered ${saidBy(answer)}`)
    return {
      result: saidBy(answer),
      proof: 'it lacks "campaigns"',
      more: [await stage.explained(answer)],
    }
  },
}

/** Of RFC 5737, for documentation: nobody calls from there. */
const ELSEWHERE = '192.0.2.0/24'

const wrongAddress: Step = {
  name: 'wrong address',
  proves: 'A key with an IP whitelist is of no use from anywhere else.',
  byHand: `npx jeton key update Quickstart --ip-whitelist ${ELSEWHERE}`,
  async run(stage) {
    const answer = await stage.issue(await stage.makeKey('elsewhere', { ip_whitelist: [ELSEWHERE] }))
    promised(saidBy(answer) === '403 ip_not_allowed', `answered ${saidBy(answer)}`)
    return {
      result: saidBy(answer),
      proof: `only ${ELSEWHERE} may`,
      more: [await stage.explained(answer)],
    }
  },
}

export const TOKEN_STEPS: readonly Step[] = [token, introspect, use, wrongScope, wrongAddress]
