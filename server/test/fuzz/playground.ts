import type { Random } from '../faults/random.ts'
import { openShop } from '../loyalty.ts'
import { type Client, OPERATOR, type Pair } from '../service.ts'
import type { Forbidden } from './judge.ts'
import type { Caller, Stock } from './requests.ts'
import type { Ids } from './values.ts'

/** Prefixes of ids, and the names of the fields and parameters that accept them. */
const PREFIXES: readonly (readonly [RegExp, RegExp])[] = [
  [/^proj_/, /project/],
  [/^key_/, /^key(_id)?$/],
  [/^cust_/, /customer|entity|holder/],
  [/^camp_/, /campaign/],
  [/^rewa_/, /assignment/],
  [/^rew_/, /reward/],
  [/^prod_/, /product/],
  [/^wh_/, /webhook/],
  [/^distr_/, /distribution/],
  [/^evcus_|^evt_|^ev/, /event/],
  [/^tok_/, /token_id/],
  [/^op_/, /operator/],
  [/^v-/, /request_id/],
]
const KEPT = 200

class Pool implements Ids {
  readonly #random: Random
  readonly #ids = new Map<number, string[]>()
  readonly #codes: string[] = []

  constructor(random: Random) {
    this.#random = random
  }

  add(id: string): void {
    const kind = PREFIXES.findIndex(([prefix]) => prefix.test(id))
    if (kind < 0) return
    const known = this.#ids.get(kind) ?? []
    this.#ids.set(kind, known)
    if (known.length < KEPT) known.push(id)
    else known[this.#random.between(0, KEPT - 1)] = id
  }

  addCode(code: string): void {
    if (this.#codes.length < KEPT) this.#codes.push(code)
  }

  for(name: string): string | undefined {
    if (/member|^code$/i.test(name)) return this.#random.pick(this.#codes)
    const kind = PREFIXES.findIndex(([, names]) => names.test(name.replace(/Id$/, '_id').toLowerCase()))
    return kind < 0 ? undefined : this.#random.pick(this.#ids.get(kind) ?? [])
  }
}

export interface Playground {
  readonly stock: Stock
  readonly forbidden: Forbidden
  readonly victimId: string
  readonly victimPair: Pair
  /** Collects ids from a response for the next requests. */
  learn(body: string): void
  freshToken(): Promise<void>
}

/** Creates a project for the fuzzer, and one that must not change. */
export async function openPlayground(client: Client, random: Random): Promise<Playground> {
  const marker = `victim-${random.between(1e8, 9e8)}`
  const victim = await openShop(client)
  const rename = await client.manage('PATCH', `/projects/${victim.projectId}`, { name: `${marker} project` })
  if (rename.status !== 200) throw new Error(rename.text)
  const customer = await victim.call('POST', '/customers', { name: marker, email: `${marker}@example.com` })
  const card = await victim.member(500)
  const reward = await victim.material({ price: 10, stock: 5 })
  await victim.call('PUT', `/rewards/${reward.id}`, { name: marker })
  await victim.redeem(card.code, reward.id)
  const hook = await client.manage('POST', `/projects/${victim.projectId}/webhooks`, {
    target_url: `https://${marker}.example/hook`,
    events: ['customer.reward_redemptions.completed'],
  })

  let shop = await openShop(client)
  const target = await client.key(shop.projectId)
  const own = new Pool(random)
  const foreign = new Pool(random)
  const foreignIds = [
    victim.projectId,
    customer.body.id,
    card.id,
    card.holder_id,
    reward.id,
    reward.assignmentId,
    victim.campaign.id,
    hook.body.id,
  ]
  for (const id of foreignIds) foreign.add(String(id))
  foreign.addCode(card.code)
  // If the fuzzer blocked its own key or deleted its operator, every further response would be 401.
  const spared = new Set<string>([
    ...foreignIds.map(String),
    (shop.pair as { id?: string }).id ?? '',
    OPERATOR.id,
  ])
  for (const id of [shop.projectId, target.id, shop.campaign.id]) own.add(id)
  for (let i = 0; i < 3; i++) own.addCode((await shop.member(1_000)).code)
  own.add((await shop.material({ price: 5, stock: 1_000 })).id)

  let token = ''
  async function freshToken(): Promise<void> {
    let { body } = await client.issue(shop.pair, 'api')
    if (!body?.access_token) {
      // An operator's request deletes the project of the fuzzer or changes its key sooner or later.
      shop = await openShop(client)
      spared.add((shop.pair as { id?: string }).id ?? '')
      own.add(shop.projectId)
      body = (await client.issue(shop.pair, 'api')).body
    }
    if (!body?.access_token) throw new Error(`no token: ${JSON.stringify(body)}`)
    token = body.access_token
  }
  await freshToken()

  const credentials: Record<Caller, () => Record<string, string>> = {
    operator: () => ({ 'X-Management-Id': OPERATOR.id, 'X-Management-Token': OPERATOR.token }),
    pair: () => ({ 'X-App-Id': shop.pair.appId, 'X-App-Token': shop.pair.appToken }),
    bearer: () => ({ Authorization: `Bearer ${token}` }),
    nobody: () => ({}),
  }
  const mixed: Ids = {
    for: (name) => (random.chance(0.15) ? foreign.for(name) : undefined) ?? own.for(name),
  }
  return {
    stock: {
      random,
      ids: (caller) => (caller === 'operator' ? own : mixed),
      credentials: (caller) => credentials[caller](),
    },
    forbidden: {
      marker,
      secrets: [OPERATOR.token, victim.pair.appToken, hook.body.secret, shop.pair.appToken].filter(Boolean),
    },
    victimId: victim.projectId,
    victimPair: victim.pair,
    learn(body) {
      for (const [, id] of body.matchAll(/"(?:id|[a-z_]+_id)":"([A-Za-z]+[_-][A-Za-z0-9]{8,40})"/g))
        if (!spared.has(id!)) own.add(id!)
      for (const [, code] of body.matchAll(/"code":"([A-Za-z0-9-]{4,40})"/g)) own.addCode(code!)
    },
    freshToken,
  }
}
