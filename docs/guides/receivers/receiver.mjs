// Receives events of Jeton: Node 18 or newer, nothing to install.
//
//   WEBHOOK_SECRET=whsec_… PORT=3000 node receiver.mjs

import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'

const { WEBHOOK_SECRET, PORT = '3000' } = process.env
const TOLERANCE_SECONDS = 5 * 60
const LARGEST_BODY = 1024 * 1024

/** Throws unless the bytes were signed by the holder of the secret, lately. */
function checkSignature(headers, body, secret) {
  const id = headers['webhook-id']
  const timestamp = headers['webhook-timestamp']
  const signatures = headers['webhook-signature']
  if (!id || !timestamp || !signatures) throw new Error('missing signature')
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) <= TOLERANCE_SECONDS))
    throw new Error('timestamp too far from now')

  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest()
  // While a secret is being rotated there are two signatures; one that fits is enough.
  const fits = signatures.split(' ').some((entry) => {
    const [version, signature] = entry.split(',')
    const given = Buffer.from(signature ?? '', 'base64')
    return version === 'v1' && given.length === expected.length && timingSafeEqual(given, expected)
  })
  if (!fits) throw new Error('wrong signature')
}

// What has been taken. In earnest: a table with the id as its key, written in the transaction that does the work.
const taken = new Set()

/** Once for each event, however often it comes. Only take note of it here, and work later: Jeton waits 10 s at most. */
function take(id, event) {
  if (taken.has(id)) return
  taken.add(id)
  const customer = event.data.customer?.source_id ?? '–'
  process.stdout.write(`took ${id}  ${event.type}  ${event.event.id}  ${customer}\n`)
}

/** The bytes as they came: parsed and printed again they would no longer fit the signature. */
async function bytesOf(request) {
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
    const body = await bytesOf(request)
    checkSignature(request.headers, body, WEBHOOK_SECRET)
    take(request.headers['webhook-id'], JSON.parse(body))
    response.writeHead(204).end()
  } catch (error) {
    response.writeHead(400, { 'content-type': 'text/plain' }).end(error.message)
  }
})

if (!WEBHOOK_SECRET) {
  process.stderr.write(
    'WEBHOOK_SECRET is not set: give it the secret of the webhook, or of `jeton listen --secret`\n',
  )
  process.exit(78)
}
server.listen(Number(PORT), '127.0.0.1', () => {
  process.stdout.write(`listening on http://127.0.0.1:${server.address().port}/hook\n`)
})
