import { apiOf, ok } from '../../server/test/loyalty.ts'
import { type Receiver, startReceiver } from '../../server/test/receiver.ts'
import type { TestService } from '../../server/test/service.ts'

/** Runs wherever it is taken for more than text. */
const RUN = 'window.__hostile=1'
export const SCRIPT = `<script>${RUN}</script><img src=x onerror="${RUN}">`
export const LINK = `javascript:${RUN}//`
/** Turns the direction of the text around it, where that is not isolated. */
export const TURNED = '\u202Egpj.exe \u05E9\u05DC\u05D5\u05DD'
const LINE = 'x'.repeat(16 * 1024)

/** A name of at most 100 characters with everything in it. */
export const NAME = `"><img src=x onerror=${RUN}> ${TURNED}`

export interface HostileProject {
  readonly projectId: string
  readonly receiver: Receiver
  readonly keyId: string
  readonly eventId: string
  readonly deliveryId: string
  readonly destinationId: string
  readonly customerId: string
  readonly cardCode: string
}

/** A project in which every text that somebody else can choose is an attack, or as long as is allowed. */
export async function openHostileProject(service: TestService): Promise<HostileProject> {
  const { id: projectId } = await service.project(NAME)
  const path = `/projects/${projectId}`
  const receiver = await startReceiver()
  receiver.answer = () => ({
    status: 500,
    headers: { 'content-type': 'text/html' },
    body: SCRIPT + TURNED + LINE,
  })
  const manage = async (way: string, body?: object) => {
    const { status, text, body: made } = await service.manage('POST', `${path}${way}`, body)
    if (status >= 300) throw new Error(`${way}: ${text}`)
    return made
  }
  const key = await service.key(projectId, { name: NAME })
  const blocked = await service.key(projectId, { name: LINK, permissions: ['vouchers'] })
  await service.key(projectId, {
    name: 'W'.repeat(100),
    ip_whitelist: ['2001:db8:85a3:8d3:1319:8a2e:370:7348'],
  })
  await manage(`/api-keys/${blocked.id}/block`, { reason: SCRIPT + TURNED })
  const webhook = await manage('/webhooks', {
    target_url: `${receiver.url}/${'long-'.repeat(60)}?x=%3Cscript%3E`,
    events: ['customer.reward_redemptions.completed'],
    description: SCRIPT + TURNED,
  })
  const { customerId, cardCode } = await redeem(service.url, key)
  await receiver.receivedAtLeast(1)
  await service.issue(key, 'api')
  await service.issue(blocked, SCRIPT)
  await service.form('/v1/oauth/token', { grant_type: SCRIPT, scope: TURNED }, { ...key, appId: 'nobody' })
  await fetch(`${service.url}/gateway/authorize`, {
    headers: {
      'x-original-uri': `/v1/${encodeURI(SCRIPT)}`,
      'user-agent': SCRIPT,
      authorization: 'Bearer x',
    },
  })
  await service.manage('POST', '/operators', { name: NAME, role: 'viewer', projects: [projectId] })
  const eventId = (await service.manage('GET', `${path}/events`)).body.data[0].id
  const deliveryId = (await service.manage('GET', `${path}/deliveries`)).body.data[0].id
  return {
    ...{ projectId, receiver, keyId: key.id, destinationId: webhook.id },
    ...{ eventId, deliveryId, customerId, cardCode },
  }
}

/** A customer, a reward and a redemption, all with hostile texts. */
async function redeem(url: string, pair: { appId: string; appToken: string }) {
  const call = apiOf(url, pair)
  const voucher = { type: 'LOYALTY_CARD', loyalty_card: { points: 500 } }
  const campaign = await ok(call('POST', '/loyalties', { name: NAME, voucher }))
  const customer = {
    source_id: LINK,
    name: NAME,
    email: 'ann+<b>@example.com',
    metadata: { [SCRIPT]: SCRIPT, [TURNED]: TURNED, long: LINE.slice(0, 8_000), url: LINK },
  }
  const card = await ok(call('POST', `/loyalties/${campaign.id}/members`, { customer }))
  const product = await ok(call('POST', '/products', { name: NAME }))
  const parameters = { product: { id: product.id } }
  const reward = await ok(
    call('POST', '/rewards', { name: NAME, type: 'MATERIAL', parameters, metadata: { [SCRIPT]: LINK } }),
  )
  const price = { campaign: campaign.id, parameters: { loyalty: { points: 100 } } }
  await ok(call('POST', `/rewards/${reward.id}/assignments`, price))
  const path = `/loyalties/${campaign.id}/members/${card.code}`
  await ok(call('POST', `${path}/redemption`, { reward: { id: reward.id }, metadata: { [SCRIPT]: TURNED } }))
  return { customerId: card.holder_id as string, cardCode: card.code as string }
}
