import { createHmac } from 'node:crypto'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Webhook } from 'standardwebhooks'
import { describe, expect, test } from 'vitest'
import { jeton, newFolder } from '../../../test/command-line.ts'

const SECRET = `whsec_${'Qm9keVNlY3JldA'.repeat(3)}Qm`
const OTHER = `whsec_${'T3RoZXJTZWNyZXQ'.repeat(2)}T3RoZXJTZWNyZX`
const NOW = Date.UTC(2026, 0, 15, 12)
const SECONDS = NOW / 1000
const ID = 'whs_0000000000000001'
const BODY = JSON.stringify({
  id: ID,
  project_id: 'proj_0000000000000001',
  created_at: '2026-01-15T12:00:00.000Z',
  type: 'EVENTS.CUSTOMER.REWARD_REDEMPTIONS.COMPLETED',
  data: { customer: { name: 'Zoë', url: 'https://x/y' }, holder: null },
  source: { id: 'wh_0000000000000001', object: 'webhook', target_url: 'https://hooks.example.com/' },
  event: { id: 'evcus_0000000000000001' },
})

type Headers = Record<string, string>

/** Signs with the reference library of Standard Webhooks, not with the code under test. */
const signed = (secret = SECRET, body = BODY, at = NOW): string =>
  new Webhook(secret).sign(ID, new Date(at), body)
const platform = (secret = SECRET, body = BODY): string =>
  createHmac('sha256', secret).update(body).digest('hex')
const headersOf = (more: Headers = {}): Headers => ({
  host: 'localhost:3000',
  'content-type': 'application/json',
  'webhook-id': ID,
  'webhook-timestamp': String(SECONDS),
  'webhook-signature': signed(),
  ...more,
})
const without = (...names: string[]): Headers =>
  Object.fromEntries(Object.entries(headersOf()).filter(([name]) => !names.includes(name)))
const http = (headers: Headers, body = BODY): string =>
  `POST /hook HTTP/1.1\r\n${Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}\r\n${body}`

const verify = (input: string, ...flags: string[]) =>
  jeton(['verify', '--secret', SECRET, ...flags], { env: {}, input, now: NOW })
async function reasonOf(
  input: string,
  ...flags: string[]
): Promise<{ reason: string; last: string; remedy: string }> {
  const { code, out } = await verify(input, '--json', ...flags)
  const { fits, reason, steps, remedy } = JSON.parse(out)
  expect({ code, fits }).toEqual({ code: 1, fits: false })
  return { reason, last: steps.at(-1).says, remedy }
}

describe('a signature that matches', () => {
  test.each([
    ['as it was sent', http(headersOf())],
    [
      'with plain line ends and no request line',
      http(headersOf())
        .replace(/^.*\r\n/, '')
        .replaceAll('\r\n', '\n'),
    ],
    ['with names in another case', http(headersOf()).replaceAll('webhook-', 'Webhook-')],
    [
      'saved with a line break after it',
      `${http(headersOf({ 'content-length': String(Buffer.byteLength(BODY)) }))}\n`,
    ],
    ['with the Voucherify header in addition', http(headersOf({ 'x-voucherify-signature': platform() }))],
    ['during a rotation', http(headersOf({ 'webhook-signature': `${signed(SECRET)} ${signed(OTHER)}` }))],
    [
      'just within the tolerance',
      http(
        headersOf({
          'webhook-timestamp': String(SECONDS - 300),
          'webhook-signature': signed(SECRET, BODY, NOW - 300_000),
        }),
      ),
    ],
    [
      'with an unknown version beside it',
      http(headersOf({ 'webhook-signature': `v1a,${'A'.repeat(86)}== ${signed()}` })),
    ],
  ])('is accepted %s', async (_, input) => {
    const { code, out, err } = await verify(input)
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).toMatch(/^The signature matches\.\n/)
    expect(out).not.toMatch(/✗|before the last rotation/)
  })

  test('of the previous secret is accepted, with a note that it ends', async () => {
    const headers = headersOf({
      'webhook-signature': `${signed(OTHER)} ${signed(SECRET)}`,
      'x-voucherify-signature': platform(OTHER),
    })
    const { code, out } = await verify(http(headers))
    expect(code).toBe(0)
    expect(out).toContain('signature 2 of 2 matches: this is the secret before the last rotation')
  })

  test('is accepted if one of two secrets matches', async () => {
    const headers = headersOf({ 'webhook-signature': signed(OTHER) })
    expect((await verify(http(headers), '--secret', OTHER)).code).toBe(0)
  })

  test('of Voucherify alone is accepted, with a note that it covers no timestamp', async () => {
    const { code, out } = await verify(http({ 'x-voucherify-signature': platform() }))
    expect(code).toBe(0)
    expect(out).toContain('covers no timestamp')
  })

  test('is also read from flags and a file', async () => {
    const folder = newFolder('verify')
    const file = join(folder, 'body.json')
    writeFileSync(file, BODY)
    const flags = Object.entries(headersOf()).flatMap(([name, value]) => ['--header', `${name}: ${value}`])
    expect((await verify('', ...flags, '--body-file', file)).code).toBe(0)
    expect((await verify(BODY, ...flags)).code).toBe(0)
    rmSync(folder, { recursive: true })
  })
})

describe('a signature that does not match, by its reason', () => {
  const parsed = JSON.parse(BODY)
  const { id, ...rest } = parsed
  const cases: [string, string, string, string][] = [
    ['missing_header', 'webhook-signature is missing', http(without('webhook-signature')), ''],
    [
      'missing_header',
      'webhook-id, webhook-timestamp, webhook-signature are missing',
      http({ host: 'x' }),
      '',
    ],
    ['missing_header', 'webhook-id is missing', http(headersOf({ 'webhook-id': '' })), ''],
    ['malformed_header', 'is in milliseconds', http(headersOf({ 'webhook-timestamp': String(NOW) })), ''],
    [
      'malformed_header',
      'not a number of seconds',
      http(headersOf({ 'webhook-timestamp': '2026-01-15' })),
      '',
    ],
    [
      'malformed_header',
      'not in the format v1,<base64>',
      http(headersOf({ 'webhook-signature': signed().slice(3) })),
      '',
    ],
    [
      'malformed_header',
      'not in the format v1,<base64>',
      http(headersOf({ 'webhook-signature': signed().slice(0, -5) })),
      '',
    ],
    [
      'malformed_header',
      'has version v1a; expected v1',
      http(headersOf({ 'webhook-signature': `v1a,${'A'.repeat(86)}==` })),
      '',
    ],
    [
      'malformed_header',
      'like x-voucherify-signature',
      http(headersOf({ 'webhook-signature': platform() })),
      '',
    ],
    [
      'malformed_header',
      'has the value of webhook-signature',
      http({ 'x-voucherify-signature': signed() }),
      '',
    ],
    [
      'wrong_secret',
      'another secret',
      http(headersOf({ 'webhook-signature': signed(OTHER) })),
      'secret_last4',
    ],
    [
      'wrong_secret',
      '2 signatures: a rotation',
      http(headersOf({ 'webhook-signature': `${signed(OTHER)} ${signed(OTHER)}` })),
      '',
    ],
    [
      'wrong_secret',
      'x-voucherify-signature was made',
      http({ 'x-voucherify-signature': platform(OTHER) }),
      'including whsec_',
    ],
    [
      'body_changed',
      'without the line break at its end',
      http(headersOf(), `${BODY}\n`),
      'line break was added',
    ],
    [
      'body_changed',
      'as compact JSON',
      http(headersOf(), JSON.stringify(parsed, null, 2)),
      'parsed and serialized again',
    ],
    [
      'body_changed',
      'as compact JSON',
      http(headersOf(), JSON.stringify(parsed, null, 2).replaceAll('\n', '\r\n')),
      '',
    ],
    [
      'body_changed',
      'as compact JSON',
      http(headersOf(), BODY.replace('ë', '\\u00eb').replaceAll('/', '\\/')),
      'escapes',
    ],
    ['body_changed', 'inside this JSON string', http(headersOf(), JSON.stringify(BODY)), 'quoted'],
    ['body_changed', 'without its byte order mark', http(headersOf(), `\ufeff${BODY}`), ''],
    ['body_changed', 'read as UTF-8', http(headersOf(), Buffer.from(BODY).toString('latin1')), 'Latin-1'],
    ['body_changed', 'keys are not in the order', http(headersOf(), JSON.stringify({ ...rest, id })), ''],
    ['body_changed', 'it is not an event', http(headersOf(), JSON.stringify(parsed.data)), ''],
    ['body_changed', 'it is not JSON', http(headersOf(), BODY.slice(0, 100)), ''],
    [
      'body_changed',
      `Content-Length is ${BODY.length + 9} bytes`,
      http(headersOf({ 'content-length': String(BODY.length + 9) })).replace('holder":null', 'holder":1'),
      '',
    ],
    [
      'body_changed',
      'as compact JSON',
      http({ 'x-voucherify-signature': platform() }, JSON.stringify(parsed, null, 1)),
      '',
    ],
    [
      'header_changed',
      `the signature matches ${ID}, the id in the body`,
      http(headersOf({ 'webhook-id': 'whs_another' })),
      '',
    ],
    [
      'header_changed',
      'secret and body are right',
      http(headersOf({ 'webhook-timestamp': String(SECONDS - 1), 'x-voucherify-signature': platform() })),
      '',
    ],
    [
      'header_changed',
      'x-voucherify-signature does not match, though',
      http(headersOf({ 'x-voucherify-signature': platform(OTHER) })),
      '',
    ],
    [
      'timestamp',
      '6 min ago, more than 5 min before now',
      http(
        headersOf({
          'webhook-timestamp': String(SECONDS - 360),
          'webhook-signature': signed(SECRET, BODY, NOW - 360_000),
        }),
      ),
      '--tolerance',
    ],
    [
      'timestamp',
      '6 min after now',
      http(
        headersOf({
          'webhook-timestamp': String(SECONDS + 360),
          'webhook-signature': signed(SECRET, BODY, NOW + 360_000),
        }),
      ),
      'clock',
    ],
  ]
  test.each(cases)('%s: %s', async (reason, says, input, remedy) => {
    const found = await reasonOf(input)
    expect(found.reason).toBe(reason)
    expect(found.last).toContain(says)
    expect(found.remedy).toContain(remedy)
  })

  test.each([
    ['does not start with whsec_', SECRET.slice(6), 'it matches'],
    ['white space', ` ${SECRET}\n`, 'it matches'],
    ['not base64', SECRET.slice(0, -1), 'Use the full secret'],
    ['not base64', SECRET.replace(/.$/, '-'), 'Use the full secret'],
    ['this one has 3', 'whsec_abcd', 'Use the full secret'],
    ['not a signing secret', 'jta_0123456789', 'Use the full secret'],
    ['does not start with whsec_', OTHER.slice(6), 'Use the full secret'],
  ])('malformed_secret: %s', async (says, secret, remedy) => {
    const { out, code } = await jeton(['verify', '--json', '--secret', secret], {
      env: {},
      input: http(headersOf()),
      now: NOW,
    })
    const { reason, steps, remedy: shown } = JSON.parse(out)
    expect({ code, reason }).toEqual({ code: 1, reason: 'malformed_secret' })
    expect(steps.at(-1).says).toContain(says)
    expect(shown).toContain(remedy)
    expect(out).not.toContain(secret.trim().slice(-12))
  })
})

test('the output has the steps, the reason and the remedy', async () => {
  const { code, out } = await verify(http(headersOf(), `${BODY}\n`))
  expect(code).toBe(1)
  expect(out).toBe(
    [
      'The signature does not match: body_changed',
      '  ✓ the three headers are present and well-formed',
      '  ✓ the secret is well-formed',
      '  ✗ the body was changed: the signature matches the body without the line break at its end',
      '  → A line break was added. Check the raw bytes, before anything parses them.',
      '',
    ].join('\n'),
  )
})

test('--tolerance decides whether an old captured request is accepted', async () => {
  const at = NOW - 3 * 86_400_000
  const headers = headersOf({
    'webhook-timestamp': String(at / 1000),
    'webhook-signature': signed(SECRET, BODY, at),
  })
  expect((await verify(http(headers), '--tolerance', '2d')).code).toBe(1)
  expect((await verify(http(headers), '--tolerance', '4d')).code).toBe(0)
})

describe('input that cannot be checked is a usage error in one line', () => {
  test.each([
    ['', [], 'Missing request on standard input'],
    [BODY, [], 'a body without headers'],
    ['hello\nthere', [], 'This is not a request'],
    [http(headersOf()), ['--tolerance', 'soon'], '--tolerance: "soon" is not a duration'],
    [http(headersOf()), ['--body-file', '/nonexistent'], '--body-file requires --header'],
    ['', ['--header', 'a: b', '--body-file', '/nonexistent'], 'cannot read /nonexistent (ENOENT)'],
  ])('%j %j', async (input, flags, says) => {
    const { code, out, err } = await verify(input, ...flags)
    expect(err).toContain(says)
    expect({ code, out, lines: err.trim().split('\n').length }).toEqual({ code: 2, out: '', lines: 1 })
  })

  test('a missing secret without a terminal', async () => {
    const { code, err } = await jeton(['verify'], { env: {}, input: http(headersOf()) })
    expect({ code, err }).toEqual({
      code: 2,
      err: expect.stringContaining('Missing required flag: --secret'),
    })
  })
})
