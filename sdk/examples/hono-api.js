// A Hono handler behind the guard: node hono-api.js
import { serve } from '@hono/node-server'
import { getConnInfo } from '@hono/node-server/conninfo'
import { createGuard } from '@jeton/sdk/guard'
import { requireScope } from '@jeton/sdk/hono'
import { Hono } from 'hono'

const guard = createGuard({
  baseUrl: process.env.JETON_URL,
  projectId: process.env.JETON_PROJECT_ID,
})

// The address of the connection. Headers such as X-Forwarded-For can be sent by anyone.
const address = (context) => getConnInfo(context).remote.address

const app = new Hono()
app.get('/rewards', requireScope(guard, 'rewards', { address }), (context) =>
  context.json({ client: context.get('jeton').clientId, rewards: ['Mug'] }),
)

serve({ fetch: app.fetch, port: Number(process.env.PORT ?? 3000), hostname: '127.0.0.1' }, ({ port }) => {
  console.log(`listening on http://127.0.0.1:${port}`)
})
