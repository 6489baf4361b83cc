/** What Node alone costs: the body, if any, is received whole, and the answer of Jeton is sent with its headers. */
import { createServer } from 'node:http'
import { askedLikeJeton, KEEP_ALIVE_MS } from './bare.ts'
import { announce, endOnSignal, listen, receiveTask } from './process.ts'
import { type CapturedAnswer, GATEWAY } from './protocol.ts'

const task = await receiveTask()
const { issue, introspect, gateway } = task.answers!
const withLength = ({ headers, body }: CapturedAnswer) => ({
  headers: { ...headers, 'content-length': String(Buffer.byteLength(body)) },
  body,
})
const answers = new Map([
  ['/v1/oauth/token', withLength(issue)],
  ['/v1/oauth/introspect', withLength(introspect)],
  [GATEWAY.path, withLength(gateway)],
])

const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const { headers, body } = answers.get(request.url!)!
    response.writeHead(200, headers).end(body)
  })
})
const url = await listen(server)
endOnSignal(() => server.closeAllConnections())
announce(askedLikeJeton(url, task))
