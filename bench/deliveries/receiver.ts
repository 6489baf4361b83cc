/**
 * Receives deliveries and reports how many came, how fast, and how old the events were. The first argument is its
 * behaviour; with a certificate in the environment it speaks TLS.
 */
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { announceUrl, type Behaviour, type FromReceiver, type ToReceiver } from './protocol.ts'

const behaviour = (process.argv[2] ?? 'answer') as Behaviour

let count = 0
/** When it began to count the time. */
let fromAt = 0
let lastAt = 0
let delaysMs: number[] = []
/** Parsing costs: only where delays are asked for. */
let timing = false

/** What it was last asked for, and has yet to tell. */
let asked: ToReceiver | undefined

let last: Pick<IncomingMessage, 'headers'> & { body: Buffer[] } = { headers: {}, body: [] }

const DRIP_EVERY_MS = 500

function respond(response: ServerResponse): void {
  if (behaviour === 'answer') response.writeHead(204).end()
  if (behaviour === 'fail') response.writeHead(500).end()
  if (behaviour !== 'drip') return
  response.writeHead(200)
  const timer = setInterval(() => response.write('.'), DRIP_EVERY_MS)
  response.on('close', () => clearInterval(timer))
}

const receive: RequestListener = (request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk) => chunks.push(chunk))
  request.on('end', () => {
    lastAt = performance.now()
    if (count++ === (asked?.warmUp ?? 0)) fromAt = lastAt
    last = { headers: request.headers, body: chunks }
    if (timing)
      delaysMs.push(Date.now() - Date.parse(JSON.parse(Buffer.concat(chunks).toString()).event.created_at))
    respond(response)
    tellOnceThere()
  })
}

function tellOnceThere(): void {
  if (!asked || count < asked.count) return
  const sent = { headers: last.headers as Record<string, string>, body: Buffer.concat(last.body).toString() }
  process.send!({ seconds: (lastAt - fromAt) / 1000, delaysMs, last: sent } satisfies FromReceiver)
  if (asked.reset) {
    count = 0
    delaysMs = []
  }
  asked = undefined
}

process.on('message', (message: ToReceiver) => {
  timing = message.timing ?? timing
  asked = message
  tellOnceThere()
})
const { RECEIVER_CERT: cert, RECEIVER_KEY: key } = process.env
announceUrl(
  cert ? createSecureServer({ cert, key }, receive) : createServer(receive),
  cert ? 'https' : 'http',
)
