import { openShop } from '../loyalty.ts'
import { type Client, clientOf, type Pair } from '../service.ts'

export interface StageKey extends Pair {
  readonly id: string
  readonly path: string
}

/** What the load works on: made once, through the API. */
export interface Stage {
  readonly projectId: string
  /** Never blocked; without a limit of its own. */
  readonly busy: StageKey
  /** At most SMALL_LIMIT tokens. */
  readonly small: StageKey
  /** Blocked, unblocked and revoked again and again. */
  readonly victims: readonly StageKey[]
  readonly campaignId: string
  readonly cards: readonly string[]
  readonly plenty: string
  readonly scarce: string
}

export const SMALL_LIMIT = 40
export const PROJECT_LIMIT = 1_000
export const PRICE = 7
export const POINTS_PER_CARD = 10_000_000
export const PLENTY = 1_000_000
export const SCARCE = 25
const CARDS = 4
const VICTIMS = 3

/** With a target, every event is sent there. */
export async function setStage(url: string, target?: string): Promise<Stage> {
  const client = clientOf(url)
  const shop = await openShop(client)
  if (target !== undefined) await subscribe(client, shop.projectId, target)
  const key = (fields = {}): Promise<StageKey> => client.key(shop.projectId, fields)
  const cards = await Promise.all(
    Array.from({ length: CARDS }, async () => (await shop.member(POINTS_PER_CARD)).code),
  )
  return {
    projectId: shop.projectId,
    busy: await key(),
    small: await key({ token_limit: SMALL_LIMIT }),
    victims: await Promise.all(Array.from({ length: VICTIMS }, () => key())),
    campaignId: shop.campaign.id,
    cards,
    plenty: (await shop.material({ price: PRICE, stock: PLENTY })).id,
    scarce: (await shop.material({ price: PRICE, stock: SCARCE })).id,
  }
}

async function subscribe(client: Client, projectId: string, target_url: string): Promise<void> {
  const webhook = { target_url, events: ['customer.reward_redemptions.completed'] }
  const { status, text } = await client.manage('POST', `/projects/${projectId}/webhooks`, webhook)
  if (status !== 201) throw new Error(`no webhook: ${status} ${text}`)
}
