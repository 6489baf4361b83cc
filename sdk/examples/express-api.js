// An Express API behind the guard: node express-api.js
import { requireScope } from '@jeton/sdk/express'
import { createGuard } from '@jeton/sdk/guard'
import express from 'express'

const guard = createGuard({
  baseUrl: process.env.JETON_URL,
  projectId: process.env.JETON_PROJECT_ID,
})

const app = express()

// The caller's address is that of the socket. Behind a proxy, set `trust proxy` to the proxy's address and pass
// { address: (request) => request.ip }.
app.get('/rewards', requireScope(guard, 'rewards'), (request, response) => {
  response.json({ client: request.jeton.clientId, rewards: ['Mug'] })
})

const server = app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${server.address().port}`)
})
