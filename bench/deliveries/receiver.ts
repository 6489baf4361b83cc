/** Takes what is sent, answers 204, and tells how many came, from when to when, and how old the events were. */
import { createServer, type IncomingMessage } from 'node:http'
import { announceUrl, type FromReceiver, type ToReceiver } from './protocol.ts'

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

const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk) => chunks.push(chunk))
  request.on('end', () => {
    lastAt = performance.now()
    if (count++ === (asked?.warmUp ?? 0)) fromAt = lastAt
    last = { headers: request.headers, body: chunks }
    if (timing)
      delaysMs.push(Date.now() - Date.parse(JSON.parse(Buffer.concat(chunks).toString()).event.created_at))
    response.writeHead(204).end()
    tellOnceThere()
  })
})

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
announceUrl(server)
