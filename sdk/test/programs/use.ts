// The adapters and the test server, in TypeScript with their frameworks.
import { receiveWebhooks, requireScope } from '@jeton/sdk/express'
import { jeton } from '@jeton/sdk/fastify'
import { createGuard } from '@jeton/sdk/guard'
import { requireScope as requireScopeInHono } from '@jeton/sdk/hono'
import { signed, startJeton } from '@jeton/sdk/testing'
import { memorySeenStore } from '@jeton/sdk/webhooks'
import express from 'express'
import fastify from 'fastify'
import { Hono } from 'hono'

const guard = createGuard({ baseUrl: 'http://x', projectId: 'proj_1', maxAgeMs: 5_000 })

const web = express()
web.get('/rewards', requireScope(guard, 'rewards'), (request, response) => {
  response.json({ you: request.jeton.clientId })
})
web.get(
  '/behind-a-proxy',
  requireScope(guard, 'rewards', { address: (request: express.Request) => request.ip }),
)
web.post('/hook', receiveWebhooks({ secret: 'whsec_', seen: memorySeenStore(), on: {} }))

const app = fastify()
await app.register(jeton, { guard, address: (request) => request.ip })
app.get('/rewards', { config: { scope: 'rewards' } }, async (request) => request.jeton.scope)
app.get('/health', { config: { scope: false } }, async () => 'ok')

const hono = new Hono()
hono.get('/rewards', requireScopeInHono(guard, 'rewards', { address: () => '::1' }), (c) =>
  c.text(c.get('jeton').keyId),
)

const server = await startJeton({ deliver: async () => new Response(null, { status: 204 }) })
await server.advance(900_000)
for await (const request of server.deliveries) request.headers.get('webhook-id')
declare const data: Parameters<typeof signed>[1]
await signed('customer.reward_redemptions.completed', data, 'whsec_', { tamper: true })
await server.stop()
