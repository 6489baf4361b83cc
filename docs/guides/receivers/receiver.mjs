// Receives events of Jeton: Node 18 or newer, nothing to install.
//
//   WEBHOOK_SECRET=whsec_… PORT=3000 node receiver.mjs

import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'

const { WEBHOOK_SECRET, PORT = '3000' } = process.env
const TOLERANCE_SECONDS = 5 * 60
const LARGEST_BODY = 1024 * 1024

/** Throws unless the holder of the secret signed the body within the last 5 minutes. */
function checkSignature(headers, body, secret) {
  const id = headers['webhook-id']
  const timestamp = headers['webhook-timestamp']
  const signatures = headers['webhook-signature']
  if (!id || !timestamp || !signatures) throw new Error('missing signature')
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) <= TOLERANCE_SECONDS))
    throw new Error('timestamp too far from now')

  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest()
  // While a secret is being rotated there are two signatures; one that matches is enough.
  const matches = signatures.split(' ').some((entry) => {
    const [version, signature] = entry.split(',')
    const given = Buffer.from(signature ?? '', 'base64')
    return version === 'v1' && given.length === expected.length && timingSafeEqual(given, expected)
  })
  if (!matches) throw new Error('wrong signature')
}

// Ids already processed. In production, use a table with the id as primary key, written in the transaction of the work.
const processed = new Set()

/** Processes a delivery once, however often it arrives. Only store it here and work later: Jeton waits at most 10 s. */
function processOnce(id, event) {
  if (processed.has(id)) return
  processed.add(id)
  const customer = event.data.customer?.source_id ?? '–'
  process.stdout.write(`processed ${id}  ${event.type}  ${event.event.id}  ${customer}\n`)
}

/** Returns the raw body: parsed and serialised again, it would no longer match the signature. */
async function rawBody(request) {
  const chunks = []
  let length = 0
  for await (const chunk of request) {
    length += chunk.length
    if (length > LARGEST_BODY) throw new Error('too large')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

const server = createServer(async (request, response) => {
  try {
    const body = await rawBody(request)
    checkSignature(request.headers, body, WEBHOOK_SECRET)
    processOnce(request.headers['webhook-id'], JSON.parse(body))
    response.writeHead(204).end()
  } catch (error) {
    response.writeHead(400, { 'content-type': 'text/plain' }).end(error.message)
  }
})

if (!WEBHOOK_SECRET) {
  process.stderr.write(
    'WEBHOOK_SECRET is not set: set it to the secret of the webhook, or of `jeton listen --secret`\n',
  )
  process.exit(78)
}
server.listen(Number(PORT), '127.0.0.1', () => {
  process.stdout.write(`listening on http://127.0.0.1:${server.address().port}/hook\n`)
})
