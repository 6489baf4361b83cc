import { openShop } from '../loyalty.ts'
import { type Client, clientOf, type Pair } from '../service.ts'

export interface DemoKey extends Pair {
  readonly id: string
  readonly path: string
}

/** The keys, cards and rewards that the load uses, created once through the API. */
export interface DemoProject {
  readonly projectId: string
  /** Never blocked, and without a limit of its own. */
  readonly busy: DemoKey
  /** Has at most SMALL_LIMIT active tokens. */
  readonly small: DemoKey
  /** Blocked, unblocked and revoked repeatedly. */
  readonly blockedKeys: readonly DemoKey[]
  readonly campaignId: string
  readonly cards: readonly string[]
  readonly largeStockReward: string
  readonly smallStockReward: string
}

export const SMALL_LIMIT = 40
export const PROJECT_LIMIT = 1_000
export const PRICE = 7
export const POINTS_PER_CARD = 10_000_000
export const LARGE_STOCK = 1_000_000
export const SMALL_STOCK = 25
const CARDS = 4
const BLOCKED_KEYS = 3

/** Creates the project. If there is a target, a webhook sends every event to it. */
export async function createDemoProject(url: string, target?: string): Promise<DemoProject> {
  const client = clientOf(url)
  const shop = await openShop(client)
  if (target !== undefined) await subscribe(client, shop.projectId, target)
  const key = (fields = {}): Promise<DemoKey> => client.key(shop.projectId, fields)
  const cards = await Promise.all(
    Array.from({ length: CARDS }, async () => (await shop.member(POINTS_PER_CARD)).code),
  )
  return {
    projectId: shop.projectId,
    busy: await key(),
    small: await key({ token_limit: SMALL_LIMIT }),
    blockedKeys: await Promise.all(Array.from({ length: BLOCKED_KEYS }, () => key())),
    campaignId: shop.campaign.id,
    cards,
    largeStockReward: (await shop.material({ price: PRICE, stock: LARGE_STOCK })).id,
    smallStockReward: (await shop.material({ price: PRICE, stock: SMALL_STOCK })).id,
  }
}

async function subscribe(client: Client, projectId: string, target_url: string): Promise<void> {
  const webhook = { target_url, events: ['customer.reward_redemptions.completed'] }
  const { status, text } = await client.manage('POST', `/projects/${projectId}/webhooks`, webhook)
  if (status !== 201) throw new Error(`no webhook: ${status} ${text}`)
}
