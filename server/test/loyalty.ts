import { type Answer, type Client, type Pair, send } from './service.ts'

type Body = Record<string, unknown> | readonly unknown[]

/** Calls of an API client to `/v1`, over a real socket. */
export function apiOf(url: string, { appId, appToken }: Pair) {
  return function call(
    method: string,
    path: string,
    body?: Body,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const sent = { 'x-app-id': appId, 'x-app-token': appToken, ...headers }
    return send(`${url}/v1${path}`, {
      method,
      headers: body === undefined ? sent : { ...sent, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
  }
}

export type Api = ReturnType<typeof apiOf>

/** The body of an answer that must be 200. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into whatever came.
export async function ok(answer: Promise<Answer>): Promise<any> {
  const { status, text, body } = await answer
  if (status !== 200) throw new Error(`answered ${status}: ${text}`)
  return body
}

export interface Shop {
  readonly pair: Pair
  readonly projectId: string
  readonly call: Api
  readonly campaign: { readonly id: string; readonly name: string }
  /** A customer with so many points on a new card; the card. */
  member(points?: number): Promise<{ id: string; code: string; holder_id: string }>
  /** A MATERIAL reward that is assigned to the campaign. */
  material(options?: { price?: number; stock?: number | null }): Promise<{ id: string; assignmentId: string }>
  redeem(code: string, rewardId: string, more?: object, headers?: Record<string, string>): Promise<Answer>
  balanceOf(code: string): Promise<number>
}

let shops = 0

/** A project with a key and a loyalty campaign. */
export async function openShop(client: Client): Promise<Shop> {
  const project = await client.project(`shop ${++shops} ${process.pid}`)
  const pair = await client.key(project.id)
  return shopOf(client.url, { pair, projectId: project.id })
}

export async function shopOf(
  url: string,
  { pair, projectId }: { pair: Pair; projectId: string },
): Promise<Shop> {
  const call = apiOf(url, pair)
  const voucher = { type: 'LOYALTY_CARD', loyalty_card: { points: 0 }, code_config: { length: 12 } }
  const name = `Club ${++shops}`
  const campaign = await ok(call('POST', '/loyalties', { name, voucher }))
  const members = `/loyalties/${campaign.id}/members`
  return {
    pair,
    projectId,
    call,
    campaign,
    async member(points = 0) {
      const card = await ok(call('POST', members, { customer: { name: 'Ann' } }))
      if (points > 0) await ok(call('POST', `${members}/${card.code}/balance`, { points }))
      return card
    },
    async material({ price = 100, stock = null } = {}) {
      const product = await ok(call('POST', '/products', { name: 'Mug' }))
      const parameters = { product: { id: product.id } }
      const reward = await ok(call('POST', '/rewards', { name: 'Mug', type: 'MATERIAL', parameters, stock }))
      const price_ = { campaign: campaign.id, parameters: { loyalty: { points: price } } }
      const assignment = await ok(call('POST', `/rewards/${reward.id}/assignments`, price_))
      return { id: reward.id, assignmentId: assignment.id }
    },
    redeem: (code, id, more = {}, headers = {}) =>
      call('POST', `${members}/${code}/redemption`, { reward: { id }, ...more }, headers),
    balanceOf: async (code) => (await ok(call('GET', `${members}/${code}`))).loyalty_card.balance,
  }
}
