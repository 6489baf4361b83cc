import { openShop } from '../../server/test/loyalty.ts'
import type { Client, Pair } from '../../server/test/service.ts'
import type { Fixtures } from './clients.ts'

/** Each can have 1,000 tokens. */
const PROJECTS = 20
const CARDS = 4
const POINTS = 1_000_000

/** Creates the projects, keys and cards that the clients use, and a webhook for every redemption. */
export async function createFixtures(client: Client, target_url: string): Promise<Fixtures> {
  const pairs: Pair[] = []
  for (let i = 0; i < PROJECTS; i++) pairs.push(await client.key((await client.project(`project ${i}`)).id))
  const shop = await openShop(client)
  const reward = await shop.material({ price: 1 })
  const cards: string[] = []
  for (let i = 0; i < CARDS; i++) cards.push((await shop.member(POINTS)).code)
  const events = ['customer.reward_redemptions.completed']
  await client.manage('POST', `/projects/${shop.projectId}/webhooks`, { target_url, events })
  return { pairs, shop, rewardId: reward.id, cards }
}
