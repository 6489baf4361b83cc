/** Fastify without any work: reads the body and sends a captured response of Jeton with the same headers. */
import fastify from 'fastify'
import { GATEWAY } from '../subject.ts'
import { announce, readTask } from './serve.ts'

/** As in Jeton, so that the `Keep-Alive` header is the same. */
const KEEP_ALIVE_MS = 72_000

const { issue, introspect, gateway } = readTask().answers!
const app = fastify({ logger: false, keepAliveTimeout: KEEP_ALIVE_MS })
app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'buffer' }, (_request, body, done) =>
  done(null, body),
)
app.post('/v1/oauth/token', (_request, reply) => reply.headers(issue.headers).send(issue.body))
app.post('/v1/oauth/introspect', (_request, reply) => reply.headers(introspect.headers).send(introspect.body))
app.get(GATEWAY.path, (_request, reply) => reply.headers(gateway.headers).send(gateway.body))
announce(await app.listen({ host: '127.0.0.1', port: 0 }))
