import { EVENT_KINDS, type EventMap } from '../generated/events.ts'
import { readSecrets, signatureOf, toBase64 } from '../webhooks/signature.ts'

export interface SignedOptions {
  /** Time of the signature. Default: now. */
  readonly at?: Date
  /** `webhook-id`. Pass the same one twice to test duplicates. Default: a new one. */
  readonly id?: string
  /** Address of the receiver. Default: `http://localhost/`. */
  readonly url?: string
  /** Changes the body after it was signed. */
  readonly tamper?: boolean
}

const newId = (prefix: string): string => prefix + crypto.randomUUID().replaceAll('-', '').slice(0, 19)

/** A delivery as Jeton would send it, for the unit test of a receiver. Needs no server. */
export async function signed<Kind extends keyof EventMap>(
  kind: Kind,
  data: EventMap[Kind]['data'],
  secret: string,
  { at = new Date(), id = newId('whs_'), url = 'http://localhost/', tamper = false }: SignedOptions = {},
): Promise<Request> {
  const names = EVENT_KINDS[kind]
  const time = at.toISOString()
  const event = { id: newId('evcus_'), type: kind, created_at: time, entity_id: 'cust_test', group_id: null }
  const source = { id: 'wh_test', object: 'webhook', target_url: url }
  const payload = { id, project_id: 'proj_test', created_at: time, type: names.kind, data, source, event }
  const text = JSON.stringify(payload)
  const body = new TextEncoder().encode(text)
  const timestamp = String(Math.floor(at.getTime() / 1000))
  const [key] = readSecrets(secret)
  const signature = await signatureOf(key!, { id, timestamp, body })
  return new Request(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': timestamp,
      'webhook-signature': `v1,${toBase64(signature)}`,
      'x-jeton-event': names.kind,
      'x-jeton-event-version': names.version,
      'x-jeton-attempt': '1',
    },
    body: tamper ? text.replace('"proj_test"', '"proj_fake"') : text,
  })
}
