/** What Fastify alone costs: the body, if any, is received whole, and the answer of Jeton is sent with its headers. */
import fastify from 'fastify'
import { askedLikeJeton, KEEP_ALIVE_MS } from './bare.ts'
import { announce, endOnSignal, receiveTask } from './process.ts'
import { GATEWAY } from './protocol.ts'

const task = await receiveTask()
const { issue, introspect, gateway } = task.answers!
const app = fastify({ logger: false, keepAliveTimeout: KEEP_ALIVE_MS })
app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'buffer' }, (_request, body, done) =>
  done(null, body),
)
app.post('/v1/oauth/token', (_request, reply) => reply.headers(issue.headers).send(issue.body))
app.post('/v1/oauth/introspect', (_request, reply) => reply.headers(introspect.headers).send(introspect.body))
app.get(GATEWAY.path, (_request, reply) => reply.headers(gateway.headers).send(gateway.body))
const url = await app.listen({ host: '127.0.0.1', port: 0 })
endOnSignal(() => app.close())
announce(askedLikeJeton(url, task))
