import { isLoopbackHost } from '../../platform/addresses.ts'
import { type ApiRequest, callApi, type Session } from '../call-api.ts'
import { CommandFailure, EXIT } from '../exit.ts'
import type { List, Resource } from '../resolve.ts'

export const DEMO = 'Demo'
/** Starts the description of every destination, so that a project of somebody else is never changed or deleted. */
const CREATED = 'Created by jeton demo'
const KIND = 'customer.reward_redemptions.completed'
/** A name that never resolves (RFC 6761), so this receiver is always down. */
const DOWN_URL = 'https://receiver.invalid/hook'
const CAMPAIGN = 'Demo club'

type Credential = Readonly<Record<string, string>>

export interface Card {
  readonly code: string
  balance: number
}

/** The project with everything that traffic requires. */
export interface DemoProject {
  readonly id: string
  /** By the name of the key. */
  readonly keys: Readonly<Record<string, Credential>>
  readonly cards: readonly Card[]
  readonly rewards: readonly { readonly id: string; readonly price: number }[]
  /** Whether the server may send to this machine. */
  readonly isReceived: boolean
}

/** Each key is refused for another reason, except for the first one, which sets everything up. */
const KEYS = (address: string) => [
  { name: 'loyalty-worker', permissions: ['api'] },
  { name: 'checkout', permissions: ['loyalties', 'rewards'], ip_whitelist: [address, '10.0.0.0/8'] },
  { name: 'pos-gateway', permissions: ['loyalties'] },
  { name: 'warehouse', permissions: ['api'], ip_whitelist: ['192.0.2.0/24'] },
  { name: 'kiosk', permissions: ['rewards'], token_limit: 5 },
  { name: 'legacy-pos', permissions: ['api'] },
]

const NAMES =
  'Ada Nowak, Ben Okafor, Chiara Russo, Dev Patel, Elif Kaya, Finn Larsen, Grace Kim, Hugo Martin, Ines Costa, Jonas Weber, Kofi Mensah, Lena Horvat'
const REWARDS = [
  { name: 'Mug', price: 100 },
  { name: 'Tote bag', price: 250 },
  { name: 'Coffee for two', price: 60 },
]

const path = (id: string, rest = ''): string => `/management/v1/projects/${encodeURIComponent(id)}${rest}`

async function listOf({ call }: Session, path: string, query = {}): Promise<readonly Resource[]> {
  return ((await call({ method: 'GET', path, query: { limit: '100', ...query } })).json as List).data
}

const post = async ({ call }: Session, path: string, body?: object): Promise<Resource> =>
  (await call({ method: 'POST', path, body })).json as Resource

/** Finds the project of an earlier run. One of this name with other contents belongs to somebody else. */
async function findDemo(session: Session): Promise<string | undefined> {
  const found = (await listOf(session, '/management/v1/projects', { name: DEMO }))[0]
  if (!found) return undefined
  const id = String(found.id)
  const webhooks = await listOf(session, path(id, '/webhooks'))
  const isEmpty = webhooks.length === 0 && (await listOf(session, path(id, '/api-keys'))).length === 0
  if (isEmpty || webhooks.some(({ description }) => String(description).startsWith(CREATED))) return id
  throw new CommandFailure(
    `Project "${DEMO}" was not created by this command, so it stays as it is.\nRename it first: jeton project update ${id} --name 'Another name'`,
    EXIT.refused,
  )
}

/** Returns whether there was one. */
export async function removeDemo(session: Session): Promise<boolean> {
  const id = await findDemo(session)
  if (id) await session.call({ method: 'DELETE', path: path(id), body: { name: DEMO } })
  return id !== undefined
}

/** Creates the project, or completes the one of an earlier run. */
export async function openDemo(session: Session, receiverUrl: string): Promise<DemoProject> {
  const id =
    (await findDemo(session)) ?? String((await post(session, '/management/v1/projects', { name: DEMO })).id)
  const isReceived = await saveWebhooks(session, id, receiverUrl)
  const keys = await saveKeys(session, id)
  const shop = await openShop(session, keys['loyalty-worker']!)
  const fields = { name: 'Redeemed', campaign_id: shop.campaignId, description: `${CREATED}: a distribution` }
  await saveDestination(session, path(id, '/distributions'), {
    ...fields,
    target_url: isReceived ? receiverUrl : DOWN_URL,
  })
  return { id, keys, isReceived, ...shop }
}

/** New secrets for existing keys, because secrets are shown once and not saved. */
async function saveKeys(session: Session, id: string): Promise<DemoProject['keys']> {
  const { address } = (await session.call({ method: 'GET', path: '/management/v1/whoami' })).json as Resource
  const existing = await listOf(session, path(id, '/api-keys'))
  const keys: Record<string, Credential> = {}
  for (const fields of KEYS(String(address ?? '127.0.0.1'))) {
    const known = existing.find(({ name }) => name === fields.name)
    const key = known
      ? await post(session, path(id, `/api-keys/${known.id}/regenerate`), {})
      : await post(session, path(id, '/api-keys'), fields)
    keys[fields.name] = { 'x-app-id': String(key.app_id), 'x-app-token': String(key.app_token) }
    if (fields.name === 'legacy-pos' && !known)
      await post(session, path(id, `/api-keys/${key.id}/block`), { reason: 'Replaced by pos-gateway' })
  }
  return keys
}

/** The first webhook marks the project as ours. The receiver on this machine has another port at each start. */
async function saveWebhooks(session: Session, id: string, receiverUrl: string): Promise<boolean> {
  const save = (text: string, target_url: string, more = {}) =>
    saveDestination(session, path(id, '/webhooks'), {
      ...{ target_url, events: [KIND], description: `${CREATED}: ${text}`, ...more },
    })
  await save('its host does not exist', DOWN_URL)
  await save('disabled', 'https://crm.invalid/hook', { active: false })
  const isHere = isLoopbackHost(new URL(session.connection.url).hostname.replace(/^\[|\]$/g, ''))
  if (!isHere) return false
  try {
    await save('this machine', receiverUrl)
    return true
  } catch (error) {
    if (error instanceof CommandFailure && error.status === 400) return false
    throw error
  }
}

/** Existing destinations keep what was changed in them, except for the address of this machine. */
async function saveDestination(session: Session, path: string, fields: Resource): Promise<void> {
  const known = (await listOf(session, path)).find(({ description }) => description === fields.description)
  const target_url = String(fields.target_url)
  if (!known) await session.call({ method: 'POST', path, body: fields })
  else if (target_url.startsWith('http:'))
    await session.call({ method: 'PUT', path: `${path}/${known.id}`, body: { target_url } })
}

async function openShop({ connection }: Session, credential: Credential) {
  const call = async (method: string, path: string, body?: object): Promise<Resource> => {
    const request: ApiRequest = { method, path: `/v1${path}`, body, credential }
    return (await callApi({ ...connection, url: connection.apiUrl }, request)).json as Resource
  }
  const campaigns = (await call('GET', '/loyalties?limit=100')).campaigns as Resource[]
  const voucher = { type: 'LOYALTY_CARD', loyalty_card: { points: 500 } }
  const campaign =
    campaigns.find(({ name }) => name === CAMPAIGN) ??
    (await call('POST', '/loyalties', { name: CAMPAIGN, voucher }))
  const cards: Card[] = []
  for (const [i, name] of NAMES.split(', ').entries()) {
    const email = `${name.split(' ')[0]!.toLowerCase()}@example.com`
    // A customer who joins again gets the same card.
    const customer = { source_id: `demo-${i + 1}`, name, email }
    const { code, loyalty_card } = await call('POST', `/loyalties/${campaign.id}/members`, { customer })
    cards.push({ code: String(code), balance: (loyalty_card as Card).balance })
  }
  const existing = (await call('GET', '/rewards?limit=100')).data as Resource[]
  const rewards = []
  for (const { name, price } of REWARDS) {
    const known = existing.find((reward) => reward.name === name)
    rewards.push({ price, id: known ? String(known.id) : await createReward(name, price) })
  }
  return { campaignId: String(campaign.id), cards, rewards }

  async function createReward(name: string, points: number): Promise<string> {
    const product = await call('POST', '/products', { name, source_id: `demo-${name}` })
    const parameters = { product: { id: product.id } }
    const { id } = await call('POST', '/rewards', { name, type: 'MATERIAL', stock: 100_000, parameters })
    const price = { campaign: campaign.id, parameters: { loyalty: { points } } }
    await call('POST', `/rewards/${id}/assignments`, price)
    return String(id)
  }
}
