import { isIPv4, isIPv6 } from 'node:net'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newFolder } from '../command-line.ts'
import { ok, openShop, type Shop } from '../loyalty.ts'
import { CONSOLE } from '../operators.ts'
import { redemptionData } from '../reported-redemption.ts'
import { type Answer, OPERATOR, send, startService, type TestService } from '../service.ts'
import { TestClock } from '../test-clock.ts'

interface Schema {
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly required?: readonly string[]
  readonly minProperties?: number
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
}
interface Operation {
  readonly operationId: string
  readonly requestBody?: {
    readonly required: boolean
    readonly content: Record<string, { readonly schema: Schema }>
  }
  readonly parameters?: readonly {
    readonly name: string
    readonly in: string
    readonly schema: Schema
    readonly required?: boolean
    readonly example?: unknown
  }[]
}
/** Parameters without which others of an operation are refused. */
const COMPANIONS: Readonly<Record<string, [name: string, value: string][]>> = {
  'usage.show': [['by', 'key']],
}

interface Route extends Operation {
  readonly method: string
  readonly path: string
}

const formats = { ipv4: isIPv4, ipv6: isIPv6, uri: true as const }
const ajv = new Ajv2020({ strict: false, formats, multipleOfPrecision: 6 })
const fromText = new Ajv2020({ strict: false, formats, coerceTypes: true })

/** Values on both sides of rules about dates, cursors, scopes, addresses and codes. */
const TEXTS = [
  ...['', ' ', 'x', 'x y', 'x\ty', 'x'.repeat(101), 'x'.repeat(2_001), '##', '-1', '0', '1', '1.5', 'true'],
  ...['2026-01-31', '2028-02-29', '2026-02-29', '2026-02-30', '2026-04-31', '0000-00-00', '2026-13-01'],
  ...['2026-01-31T10:00:00Z', '2026-01-31T10:00:00', '2026-01-31T10:00+0200', '2026-01-31T10:00:00+02:00'],
  ...['2026-01-31T24:00:00Z', '2026-01-31T10:60:00Z', '2026-01-31T10:00:00+25:00', 'tomorrow'],
  ...['5.evt_1', 'MTIz', '5.', 'api', 'vouchers', 'Vouchers', 'api vouchers', 'api,vouchers', ' api'],
  ...['customer.reward_redemptions.completed', 'customer.created', 'webhook.test', 'pending', 'active'],
  ...['https://hooks.example.com/x', 'HTTPS://hooks.example.com:8443', 'https://hooks.example.com/#x'],
  ...['https://u:p@hooks.example.com/', 'ftp://hooks.example.com/', 'https:hooks.example.com', 'https://'],
  ...['10.0.0.4', '10.0.0.0/8', '10.0.0.0/33', '010.0.0.1', '2001:db8::/32', '2001:db8::/129', '1::2::3'],
  ...['::ffff:10.0.0.4', '127.0.0.1:80', `whsec_${'A'.repeat(32)}`, 'whsec_short', 'client_credentials'],
]
const NUMBERS = [0, 1, -1, 0.07, 0.005, 1.5, 101, 1_000, 86_401, 2 ** 53]
const OTHERS = [null, true, [], {}, ['x'], { 'x-tenant': 'x' }, { 'X-Tenant': 'x' }, { host: 'x' }, { x: 1 }]

const typesOf = ({ type }: Schema): readonly string[] => [type ?? []].flat() as string[]

/** Values for one field: all that are of its type, and a few of other types. */
const valuesFor = (schema: Schema): readonly unknown[] => [
  ...(schema.enum ?? []),
  ...(typesOf(schema).includes('string') || !schema.type ? TEXTS : ['x']),
  ...(typesOf(schema).some((type) => type === 'integer' || type === 'number') ? NUMBERS : [1]),
  ...OTHERS,
  ...(schema.items ? valuesFor(schema.items).map((item) => [item]) : []),
]

/** Some value that a field may have. */
function sampleOf(schema: Schema): unknown {
  if (typesOf(schema)[0] === 'object') return sampleObject(schema)
  const found = valuesFor(schema).find((value) => ajv.validate(schema, value))
  if (found === undefined) throw new Error(`no value fits ${JSON.stringify(schema)}`)
  return found
}

function sampleObject({ properties = {}, required = [], minProperties, anyOf, oneOf }: Schema): object {
  const names = [...required, ...((anyOf ?? oneOf)?.[0]?.required ?? [])]
  if (minProperties && names.length === 0) names.push(Object.keys(properties)[0]!)
  return Object.fromEntries(names.map((name) => [name, sampleOf(properties[name]!)]))
}

/** Bodies that differ from `base` in one field, at any depth: without it, and with each of the values. */
function* variantsOf(schema: Schema, base: Record<string, unknown>): Generator<object> {
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    const { [name]: before, ...rest } = base
    yield rest
    for (const value of valuesFor(field)) yield { ...rest, [name]: value }
    // The fields of an event have a schema of their own, with tests of its own.
    if (!field.properties || name === 'data') continue
    const inner = (before ?? sampleObject(field)) as Record<string, unknown>
    for (const value of variantsOf(field, inner)) yield { ...rest, [name]: value }
  }
}

/** Samples of fields that depend on another field, which a schema does not express. */
const BASES: Record<string, Record<string, unknown>> = {
  'loyalty.create': { name: 'x', voucher: { type: 'LOYALTY_CARD', loyalty_card: { points: 1 } } },
  'campaign.create': {
    name: 'x',
    campaign_type: 'GIFT_VOUCHERS',
    voucher: { type: 'GIFT_VOUCHER', gift: { amount: 1 } },
  },
  'reward.create': { name: 'x', type: 'COIN', parameters: { coin: { exchange_ratio: 1 } } },
  'redemption.report': { source_id: 'x', data: redemptionData() },
  'delivery.recover': { since: '2026-01-31' },
}

/** Refusals that no schema can express: they compare two fields, or depend on settings or stored data. */
const BEYOND_SCHEMAS = [
  /^expiration_date must be later than start_date/,
  /is plain http, which others can read in transit/,
  /^parameters\.(product|coin|campaign|loyalty\.points) is missing/,
  /^Two credentials were sent and they differ/,
  /^access_token and token differ/,
  /^A search by error covers at most 7 days/,
  /^undelivered cannot be combined with/,
]

/** Whether the service refused the input, and not because of stored data. */
function isRefused({ status, body }: Answer): boolean {
  const keys = [
    'invalid_payload',
    'missing_parameters',
    'missing_reward',
    'invalid_scope',
    'invalid_grant_type',
  ]
  return status === 400 && keys.includes(body.key)
}

describe('the OpenAPI document', () => {
  let service: TestService
  let shop: Shop
  let ids: Record<string, string>
  let routes: Route[]
  beforeAll(async () => {
    service = await startService(
      { JETON_DATA_DIR: newFolder('openapi') },
      { clock: new TestClock(), worker: false },
    )
    shop = await openShop(service)
    const [card, reward] = [await shop.member(1_000), await shop.material({ price: 1 })]
    const key = await service.key(shop.projectId, { name: 'other' })
    const product = await ok(shop.call('POST', '/products', { name: 'Mug' }))
    ids = {
      project_id: shop.projectId,
      key_id: key.id,
      campaignId: shop.campaign.id,
      memberId: card.code,
      code: card.code,
      customerId: card.holder_id,
      rewardId: reward.id,
      assignmentId: reward.assignmentId,
      productId: product.id,
    }
    const { body } = await send(`${service.url}/openapi.json`)
    const paths = Object.entries(body.paths as Record<string, Record<string, Operation>>)
    routes = paths.flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({
        ...operation,
        path,
        method: method.toUpperCase(),
      })),
    )
  })
  afterAll(() => service.stop())

  function call(
    { method, path }: Route,
    { query = '', type, body }: Record<string, string>,
  ): Promise<Answer> {
    const { appId, appToken } = shop.pair
    const credential: Record<string, string> = path.startsWith('/management')
      ? { 'x-management-id': OPERATOR.id, 'x-management-token': OPERATOR.token }
      : { 'x-app-id': appId, 'x-app-token': appToken }
    const url = `${service.url}${path.replace(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? 'none')}${query}`
    const fromConsole = path === '/management/v1/sessions' ? CONSOLE : {}
    const headers = { ...credential, ...fromConsole, ...(type !== undefined && { 'content-type': type }) }
    return send(url, { method, headers, ...(body !== undefined && { body }) })
  }

  /** Sends every one and returns where the document and the service judge differently. */
  async function disagreements<Sent>(
    route: Route,
    cases: Iterable<Sent>,
    { fits, ask }: { fits: (sent: Sent) => boolean; ask: (sent: Sent) => Record<string, string> },
  ): Promise<string[]> {
    const judge = async (sent: Sent): Promise<string[]> => {
      const answer = await call(route, ask(sent))
      const isBeyond = BEYOND_SCHEMAS.some((pattern) => pattern.test(answer.body?.message))
      if (isBeyond || isRefused(answer) !== fits(sent)) return []
      const says = fits(sent) ? 'fits the schema' : 'does not fit the schema'
      const what = JSON.stringify(sent).slice(0, 200)
      return [`${route.operationId}: ${what} ${says}, answered ${answer.status} ${answer.body?.message}`]
    }
    const found: string[] = []
    const queue = [...cases]
    while (queue.length > 0) found.push(...(await Promise.all(queue.splice(0, 16).map(judge))).flat())
    return found
  }

  test('the OpenAPI document describes JSON bodies exactly: the service refuses bodies that violate it, and no others', async () => {
    const found: string[] = []
    const seen = new Set<string>()
    for (const route of routes) {
      const schema = route.requestBody?.content['application/json']?.schema
      // Deleting the project would end the test; a list of assignments is made of bodies that are tested alone.
      if (!schema?.properties || route.operationId === 'project.delete') continue
      // It would connect to the addresses; they have the schema of a webhook's, which is tested there.
      if (route.operationId === 'webhook.check') continue
      // Many paths exist twice, from the same declarations.
      if (seen.has(JSON.stringify(schema))) continue
      seen.add(JSON.stringify(schema))
      const fits = ajv.compile(schema)
      const base = BASES[route.operationId] ?? (sampleObject(schema) as Record<string, unknown>)
      expect(fits(base), `${route.operationId} ${JSON.stringify(base)}`).toBe(true)
      const ask = (body: unknown) => ({ type: 'application/json', body: JSON.stringify(body) })
      const cases = [...variantsOf(schema, base), null, [], 'x', 7]
      found.push(...(await disagreements<unknown>(route, cases, { fits, ask })))
    }
    expect(found).toEqual([])
  }, 240_000)

  test('the OpenAPI document requires a body exactly where the service does', async () => {
    const found: string[] = []
    for (const route of routes) {
      if (!route.requestBody) continue
      const { status, body } = await call(route, {})
      if ((status === 400) !== route.requestBody.required)
        found.push(`${route.operationId}: ${status} ${body?.key}`)
    }
    expect(found).toEqual([])
  })

  test('the OpenAPI document describes queries exactly: the service refuses queries that violate it, and no others', async () => {
    const found: string[] = []
    const seen = new Set<string>()
    for (const route of routes) {
      const needed = Object.fromEntries(
        (route.parameters ?? [])
          .filter(({ in: place, required }) => place === 'query' && required)
          .map(({ name, example }) => [name, String(example)])
          .concat(COMPANIONS[route.operationId] ?? []),
      )
      for (const { name, in: place, schema } of route.parameters ?? []) {
        // Most lists take the same parameters, from the same declarations. A missing body is refused as well.
        const key = JSON.stringify([name, schema])
        if (place !== 'query' || route.requestBody?.required || seen.has(key)) continue
        seen.add(key)
        const fits = (text: string) => fromText.validate({ properties: { text: schema } }, { text })
        const ask = (text: string) => ({ query: `?${new URLSearchParams({ ...needed, [name]: text })}` })
        found.push(...(await disagreements(route, TEXTS, { fits, ask })))
      }
    }
    expect(found).toEqual([])
  }, 240_000)

  test('the OpenAPI document describes OAuth forms exactly: the service refuses forms that violate it, and no others', async () => {
    const found: string[] = []
    const type = 'application/x-www-form-urlencoded'
    for (const route of routes) {
      const schema = route.requestBody?.content[type]?.schema
      if (!schema) continue
      const fits = ajv.compile(schema)
      const base = sampleObject(schema) as Record<string, unknown>
      const isText = (form: object) => Object.values(form).every((value) => typeof value === 'string')
      const ask = (form: object) => ({
        type,
        body: String(new URLSearchParams(form as Record<string, string>)),
      })
      found.push(...(await disagreements(route, [...variantsOf(schema, base)].filter(isText), { fits, ask })))
    }
    expect(found).toEqual([])
  }, 240_000)
})
