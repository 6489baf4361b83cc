// Uses every entry of the installed SDK that runs everywhere, against a real server. Prints a line per check.
import { createFetch, createTokenSource, JetonError, JetonUnavailable, reportRedemption } from '@jeton/sdk'
import { createGuard } from '@jeton/sdk/guard'
import { createManagement } from '@jeton/sdk/management'
import { signed } from '@jeton/sdk/testing'
import { createReceiver, isKind, memorySeenStore, verify } from '@jeton/sdk/webhooks'

const { JETON_URL, HANGING_URL, REDIRECT_URL, PROJECT_ID, MANAGEMENT_ID, MANAGEMENT_TOKEN, DATA } =
  process.env
const KIND = 'customer.reward_redemptions.completed'
const ADDRESS = '203.0.113.7'
const SECRET = `whsec_${'c2VjcmV0'.repeat(5)}`
const data = JSON.parse(DATA)

const management = createManagement({ baseUrl: JETON_URL, id: MANAGEMENT_ID, token: MANAGEMENT_TOKEN })
const { keys } = management.project(PROJECT_ID)
let made = 0

async function newKey(fields = {}) {
  const key = await keys.create({ name: `matrix ${MANAGEMENT_ID} ${++made} ${performance.now()}`, ...fields })
  return { id: key.id, appId: key.app_id, appToken: key.app_token.reveal(), masked: key.app_token }
}

function expect(found, expected) {
  const [a, b] = [JSON.stringify(found), JSON.stringify(expected)]
  if (a !== b) throw new Error(`found ${a}, expected ${b}`)
}

async function rejected(promise) {
  return promise.then(
    () => 'resolved',
    (error) => error,
  )
}

const sourceOf = (key, more = {}) => createTokenSource({ baseUrl: JETON_URL, key, scope: ['api'], ...more })

const CHECKS = {
  async 'a thousand callers cost one token, and close gives it back'() {
    const key = await newKey()
    const source = sourceOf(key)
    const tokens = await Promise.all(Array.from({ length: 1_000 }, () => source.get()))
    expect(new Set(tokens.map(({ value }) => value)).size, 1)
    expect((await keys.get(key.id)).active_tokens, 1)
    await source.close()
    expect((await keys.get(key.id)).active_tokens, 0)
  },
  async 'a revoked token is replaced, and a POST is not repeated'() {
    const key = await newKey()
    const api = createFetch(sourceOf(key), { baseUrl: JETON_URL })
    expect((await api('/v1/rewards')).status, 200)
    await keys.revokeTokens(key.id)
    expect((await api('/v1/rewards')).status, 200)
    await keys.revokeTokens(key.id)
    expect((await api('/v1/customers', { method: 'POST', body: '{}' })).status, 401)
  },
  async 'the token stays at its origin'() {
    const api = createFetch(sourceOf(await newKey()), { baseUrl: JETON_URL })
    expect((await rejected(api(HANGING_URL))) instanceof TypeError, true)
    const redirected = createFetch(sourceOf(await newKey()), { baseUrl: REDIRECT_URL })
    const { status, type } = await redirected('/x')
    expect(status === 302 || type === 'opaqueredirect', true)
  },
  async 'refusals and unavailability are told apart'() {
    const refused = await rejected(sourceOf(await newKey({ permissions: ['rewards'] })).get())
    expect([JetonError.is(refused, 'invalid_scope'), refused.status], [true, 400])
    const started = performance.now()
    const silent = await rejected(sourceOf(await newKey(), { baseUrl: HANGING_URL, timeoutMs: 300 }).get())
    expect([silent instanceof JetonUnavailable, performance.now() - started < 3_000], [true, true])
  },
  async 'a redemption is reported once'() {
    const api = createFetch(sourceOf(await newKey()), { baseUrl: JETON_URL })
    const redemption = {
      source_id: `matrix-${performance.now()}-${MANAGEMENT_ID}`,
      completed_at: new Date(),
      data,
    }
    const first = await reportRedemption(api, redemption)
    expect(await reportRedemption(api, redemption), { eventId: first.eventId, duplicate: true })
  },
  async 'the guard lets in what Jeton allows and nothing else'() {
    const guard = createGuard({ baseUrl: JETON_URL, projectId: PROJECT_ID })
    const key = await newKey({ ip_whitelist: [ADDRESS, '127.0.0.1'] })
    const { value } = await sourceOf(key, { scope: ['rewards'] }).get()
    const outcome = async (token, address, scope = 'rewards', by = guard) => {
      const verdict = await by.check({ authorization: `Bearer ${token}`, scope, address })
      return verdict.allowed ? verdict.caller.keyId : verdict.reason
    }
    expect(await outcome(value, ADDRESS), key.id)
    expect(await outcome(value, `::ffff:${ADDRESS}`), key.id)
    expect(await outcome(value, '203.0.113.8'), 'ip_not_allowed')
    expect(await outcome(value, ADDRESS, 'vouchers'), 'insufficient_scope')
    expect(await outcome(value, 'nobody'), 'address_unknown')
    expect(await outcome(`${value}x`, ADDRESS), 'malformed')
    const other = createGuard({ baseUrl: JETON_URL, projectId: 'proj_other' })
    expect(await outcome(value, ADDRESS, 'rewards', other), 'inactive')
    const silent = createGuard({ baseUrl: HANGING_URL, projectId: PROJECT_ID, timeoutMs: 300 })
    expect(await outcome(value, ADDRESS, 'rewards', silent), 'unavailable')
    await keys.block(key.id, { reason: 'leaked' })
    const fresh = createGuard({ baseUrl: JETON_URL, projectId: PROJECT_ID })
    expect(await outcome(value, ADDRESS, 'rewards', fresh), 'inactive')
    const handle = fresh.handler(
      'rewards',
      () => ADDRESS,
      () => new Response('in'),
    )
    const response = await handle(
      new Request('http://api/', { headers: { authorization: `Bearer ${value}` } }),
    )
    expect([response.status, response.headers.get('www-authenticate')], [401, 'Bearer error="invalid_token"'])
  },
  async 'a delivery is verified, and a changed one is refused'() {
    const request = await signed(KIND, data, SECRET)
    const body = await request.clone().text()
    const { headers } = request
    expect(isKind(await verify({ body, headers, secret: ['whsec_' + 'A'.repeat(44), SECRET] }), KIND), true)
    const reason = async (text) => (await rejected(verify({ body: text, headers, secret: SECRET }))).reason
    expect(await reason(`${body}x`), 'signature_mismatch')
    expect(await reason(JSON.stringify(JSON.parse(body), null, 2)), 'body_rewritten')
  },
  async 'a receiver handles a delivery once'() {
    const handled = []
    const on = { [KIND]: (event) => handled.push(event.id) }
    const receive = createReceiver({ secret: SECRET, seen: memorySeenStore(), on })
    for (let i = 0; i < 2; i++)
      expect((await receive(await signed(KIND, data, SECRET, { id: 'whs_1' }))).status, 204)
    expect((await receive(await signed(KIND, data, SECRET, { tamper: true }))).status, 400)
    expect(handled, ['whs_1'])
  },
  async 'management lists all pages and masks secrets'() {
    const names = new Set()
    for await (const { name } of keys.list()) names.add(name)
    expect(names.size, (await keys.list().page({ limit: 1 })).total)
    const { masked, appToken } = await newKey()
    const { inspect } = await import('node:util')
    const printed = inspect({ masked })
    expect(`${printed}${JSON.stringify({ masked })}${masked}`.includes(appToken), false)
  },
}

const runtime = globalThis.Bun
  ? `Bun ${Bun.version}`
  : globalThis.Deno
    ? `Deno ${Deno.version.deno}`
    : `Node ${process.version}`
process.stdout.write(`version ${runtime}\n`)
let failed = 0
for (const [name, check] of Object.entries(CHECKS)) {
  try {
    await check()
    process.stdout.write(`ok      ${name}\n`)
  } catch (error) {
    failed++
    process.stdout.write(`failed  ${name}: ${error?.stack ?? error}\n`)
  }
}
process.exit(failed === 0 ? 0 : 1)
