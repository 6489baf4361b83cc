import { shellWord } from '../api/request-text.ts'
import type { Event, WholeDelivery } from './event.ts'

type EventName = Pick<Event, 'kind' | 'version'>

/** Headers of the last attempt, or of the next one. Signatures are not stored: each attempt has its own. */
export function headersOf(
  { kind, version }: EventName,
  { id, attempts, attempts_made }: WholeDelivery,
): readonly (readonly [name: string, value: string])[] {
  const last = attempts.at(-1)
  const timestamp = last ? String(Math.floor(Date.parse(last.at) / 1000)) : '(time of the attempt)'
  return [
    ['content-type', 'application/json'],
    ['webhook-id', id],
    ['webhook-timestamp', timestamp],
    ['webhook-signature', 'v1,… (made for each attempt)'],
    ['x-voucherify-signature', '…'],
    ['x-jeton-event', kind],
    ['x-jeton-event-version', version],
    ['x-jeton-attempt', String(Math.max(1, attempts_made))],
  ]
}

/** A command that sends the same body again, signed by the shell: the secret is never in the page. */
export function signedCurl({ kind, version }: EventName, delivery: WholeDelivery, body: string): string {
  return [
    '# WEBHOOK_SECRET is the secret of the destination: whsec_…',
    `ID=${delivery.id} TIMESTAMP=$(date +%s)`,
    `BODY=${shellWord(body)}`,
    `KEY=$(printf %s "\${WEBHOOK_SECRET#whsec_}" | base64 -d | od -An -v -tx1 | tr -d ' \\n')`,
    'SIGNATURE=$(printf %s "$ID.$TIMESTAMP.$BODY" | openssl dgst -sha256 -mac HMAC -macopt "hexkey:$KEY" -binary | base64)',
    `curl -i ${shellWord(delivery.destination_url ?? 'http://localhost:3000/hook')} \\`,
    '  -H "Content-Type: application/json" \\',
    '  -H "webhook-id: $ID" -H "webhook-timestamp: $TIMESTAMP" -H "webhook-signature: v1,$SIGNATURE" \\',
    `  -H ${shellWord(`x-jeton-event: ${kind}`)} -H ${shellWord(`x-jeton-event-version: ${version}`)} \\`,
    '  --data-raw "$BODY"',
    '',
  ].join('\n')
}
