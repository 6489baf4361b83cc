import { TOKEN_LIFETIME_SECONDS } from '../../contract/limits.ts'
import type { ApiRequest } from '../call-api.ts'
import { ensure, needed, type Step, shownMs, type TourAnswer, type TourProject } from './tour-project.ts'

type Credential = NonNullable<ApiRequest['credential']>

export interface Key {
  readonly path: string
  readonly credential: Credential
}

export async function createKey(project: TourProject, name: string, fields: object = {}): Promise<Key> {
  const { id, app_id, app_token } = await project.post('/api-keys', { name, ...fields })
  const credential = { 'x-app-id': String(app_id), 'x-app-token': String(app_token) }
  return { path: `/api-keys/${id}`, credential }
}

function issue(project: TourProject, { credential }: Key): Promise<TourAnswer> {
  const form = { grant_type: 'client_credentials', scope: 'loyalties rewards' }
  return project.send({ method: 'POST', path: '/v1/oauth/token', form, credential })
}

const introspection = ({ credential }: Key, token: string): ApiRequest => {
  return { method: 'POST', path: '/v1/oauth/introspect', form: { token }, credential }
}

/** Returns the status if it is the expected one. */
function expectStatus({ shown }: TourAnswer, expected: string): string {
  ensure(shown === expected, `returned ${shown}, expected ${expected}`)
  return shown
}

const REFUSAL_WITHIN_MS = 5_000

/** Looks up why a request was refused. Refusals are recorded within two seconds. */
async function explained(project: TourProject, { requestId }: TourAnswer): Promise<string[]> {
  const request = { method: 'GET', path: `/management/v1/refusals/${requestId}` }
  const { body } = await project.until(request, ({ steps }) => steps !== undefined, REFUSAL_WITHIN_MS)
  const steps = (body.steps ?? []) as readonly { passed: boolean; says: string }[]
  const failed = steps.find(({ passed }) => !passed)
  ensure(failed !== undefined, `the refusal ${requestId} is not recorded`)
  return [`jeton explain ${requestId}: ${failed.says}`]
}

const INACTIVE = '{"active":false}'
/** Documentation addresses of RFC 5737, which no caller has. */
const ELSEWHERE = '192.0.2.0/24'
/** Usually below two seconds, at most 30 s. */
const BLOCKED_WITHIN_MS = 5_000
const LIMIT = 5
const CONCURRENT = 20

export function tokenSteps(project: TourProject): Step[] {
  let created: Key | undefined
  let issued: string | undefined
  const read = (path: string) =>
    project.send({ method: 'GET', path, credential: { authorization: `Bearer ${needed(issued)}` } })

  return [
    {
      name: 'issue a token',
      proves: 'An app id and app token are exchanged for a token that is valid for 900 seconds.',
      byHand: 'jeton token issue --scope "loyalties rewards"',
      async run() {
        created = await createKey(project, 'tour')
        const { shown, body, ms } = await issue(project, created)
        ensure(shown === '200' && body.expires_in === TOKEN_LIFETIME_SECONDS, `returned ${shown}`)
        issued = String(body.access_token)
        return { result: `valid for ${body.expires_in} s`, proof: shownMs(ms) }
      },
    },
    {
      name: 'introspect it',
      proves: 'An API can check whether a token is active, its scope and how long it is valid.',
      byHand: 'jeton token introspect "$TOKEN"',
      async run() {
        const { body, shown, ms } = await project.send(introspection(needed(created), needed(issued)))
        ensure(body.active === true, `returned ${shown}, active: ${body.active}`)
        return { result: `active, ${body.expires_in} s left`, proof: shownMs(ms) }
      },
    },
    {
      name: 'use it',
      proves: 'A token is accepted for the paths that its scope covers.',
      byHand: 'curl … /v1/rewards -H "Authorization: Bearer $TOKEN"',
      async run() {
        const answer = await read('/v1/rewards')
        return { result: `GET /v1/rewards: ${expectStatus(answer, '200')}`, proof: shownMs(answer.ms) }
      },
    },
    {
      name: 'wrong scope',
      proves: 'A token is refused for all other paths, and an operator can see why.',
      byHand: 'jeton check "$TOKEN" GET /v1/campaigns',
      async run() {
        const answer = await read('/v1/campaigns')
        const result = expectStatus(answer, '403 insufficient_scope')
        return { result, proof: 'lacks "campaigns"', more: await explained(project, answer) }
      },
    },
    {
      name: 'wrong address',
      proves: 'A key with an IP allowlist is refused from all other addresses.',
      byHand: `jeton key update Quickstart --ip-whitelist ${ELSEWHERE}`,
      async run() {
        const key = await createKey(project, 'elsewhere', { ip_whitelist: [ELSEWHERE] })
        const answer = await issue(project, key)
        const result = expectStatus(answer, '403 ip_not_allowed')
        return { result, proof: `allowed: ${ELSEWHERE}`, more: await explained(project, answer) }
      },
    },
    {
      name: 'replace the secret',
      proves: 'The old secret of a regenerated key stops working immediately; its tokens keep working.',
      byHand: 'jeton key regenerate Quickstart',
      async run() {
        const before = needed(created)
        const { app_token } = await project.post(`${before.path}/regenerate`)
        created = { ...before, credential: { ...before.credential, 'x-app-token': String(app_token) } }
        const old = expectStatus(await issue(project, before), '401 unauthorized')
        const { body } = await project.send(introspection(created, needed(issued)))
        ensure(body.active === true, 'the token stopped working with the secret')
        return { result: 'the token keeps working', proof: `old secret: ${old.slice(0, 3)}` }
      },
    },
    {
      name: 'block the key',
      proves: 'The tokens of a blocked key stop working, and it gets no new ones.',
      byHand: 'jeton key block Quickstart',
      async run() {
        const key = needed(created)
        const request = introspection(await createKey(project, 'observer'), needed(issued))
        const started = performance.now()
        await project.post(`${key.path}/block`)
        const { text } = await project.until(request, ({ active }) => active !== true, BLOCKED_WITHIN_MS)
        const ms = shownMs(performance.now() - started)
        ensure(text === INACTIVE, `the token is still active after ${ms}`)
        const next = expectStatus(await issue(project, key), '401 api_key_blocked')
        return { result: `inactive after ${ms}`, proof: `new token: ${next.slice(0, 3)}` }
      },
    },
    {
      name: 'unblock the key',
      proves: 'An inactive token never becomes active again; the key can issue new ones.',
      byHand: 'jeton key unblock Quickstart',
      async run() {
        const key = needed(created)
        await project.post(`${key.path}/unblock`)
        const old = await project.send(introspection(key, needed(issued)))
        ensure(old.text === INACTIVE, 'the old token is active again')
        const answer = await issue(project, key)
        expectStatus(answer, '200')
        return { result: 'the old token stays inactive', proof: `new token: ${shownMs(answer.ms)}` }
      },
    },
    {
      name: 'token limit',
      proves: 'The token limit is exact under concurrency; a client over it learns when to retry.',
      byHand: `jeton key update Quickstart --token-limit ${LIMIT}`,
      async run() {
        const key = await createKey(project, 'limited', { token_limit: LIMIT })
        const answers = await Promise.all(Array.from({ length: CONCURRENT }, () => issue(project, key)))
        const count = answers.filter(({ shown }) => shown === '200').length
        ensure(count === LIMIT, `${count} of ${CONCURRENT} were issued, the limit is ${LIMIT}`)
        const next = await issue(project, key)
        expectStatus(next, '429 token_limit_reached')
        const retryAfter = next.response.headers.get('retry-after')
        ensure(Number(retryAfter) > 0, 'there is no Retry-After')
        const result = `exactly ${LIMIT} of ${CONCURRENT} concurrent`
        return { result, proof: `429, Retry-After: ${retryAfter}` }
      },
    },
  ]
}
