// A Fastify API behind the guard: node fastify-api.js
import { jeton } from '@jeton/sdk/fastify'
import { createGuard } from '@jeton/sdk/guard'
import fastify from 'fastify'

const guard = createGuard({
  baseUrl: process.env.JETON_URL,
  projectId: process.env.JETON_PROJECT_ID,
})

const app = fastify()
await app.register(jeton, { guard })

// Every route after this line needs a scope. `scope: false` makes one public.
app.get('/rewards', { config: { scope: 'rewards' } }, async (request) => ({
  client: request.jeton.clientId,
  rewards: ['Mug'],
}))
app.get('/health', { config: { scope: false } }, async () => ({ ok: true }))

const url = await app.listen({ port: Number(process.env.PORT ?? 3000), host: '127.0.0.1' })
console.log(`listening on ${url}`)
