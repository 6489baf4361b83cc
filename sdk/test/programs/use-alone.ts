// The entries that need nothing else, in TypeScript with the types of the web.
import {
  createFetch,
  createTokenSource,
  JetonError,
  JetonUnavailable,
  type Scope,
  type TokenStore,
} from '@jeton/sdk'
import { createGuard, type Verdict } from '@jeton/sdk/guard'
import { type ApiKey, createManagement } from '@jeton/sdk/management'
import { createReceiver, isKind, memorySeenStore, verify } from '@jeton/sdk/webhooks'

const scope: readonly Scope[] = ['loyalties', 'rewards']
declare const store: TokenStore
const tokens = createTokenSource({ baseUrl: 'http://x', key: { appId: 'a', appToken: 'b' }, scope, store })
const api = createFetch(tokens, { baseUrl: new URL('http://x') })

export async function call(): Promise<number> {
  try {
    return (await api('/v1/rewards', { signal: AbortSignal.timeout(1_000) })).status
  } catch (error) {
    if (JetonError.is(error, 'token_limit_reached')) {
      const key: 'token_limit_reached' = error.key
      return key.length + (error.retryAfterMs ?? 0)
    }
    if (error instanceof JetonUnavailable) return error.requestId?.length ?? 0
    throw error
  }
}

const guard = createGuard({ baseUrl: 'http://x', projectId: ['proj_1'] })
export const handler = guard.handler(
  'rewards',
  (_request, info: { remoteAddr: { hostname: string } }) => info.remoteAddr.hostname,
  async (_request, caller) => Response.json({ you: caller.clientId }),
)
export const explain = (verdict: Verdict): string => (verdict.allowed ? verdict.caller.keyId : verdict.reason)

export const receiver = createReceiver({
  secret: ['whsec_1', 'whsec_2'],
  seen: memorySeenStore(),
  on: { 'customer.reward_redemptions.completed': async (event) => event.data.reward_redemption.id },
})
export async function kindOf(body: Uint8Array, headers: Headers): Promise<string> {
  const event = await verify({ body, headers, secret: 'whsec_1' })
  return isKind(event, 'customer.reward_redemptions.completed') ? event.data.reward.type : event.type
}

const project = createManagement({ baseUrl: 'http://x', id: 'a', token: 'b' }).project('proj_1')
export async function blockUnused(): Promise<void> {
  for await (const key of project.keys.list({ state: 'active' })) {
    const unused: ApiKey = key
    if (!unused.last_used_at) await project.keys.block(unused.id, { reason: 'never used', wait_ms: 2_500 })
  }
  const made = await project.keys.create({ name: 'shop', permissions: ['rewards'] })
  made.app_token.reveal()
  await project.deliveries.recover({ since: new Date(), include: ['exhausted'], dry_run: true })
}
