import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { standardSignature } from '../../src/features/deliveries/signature.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { newFolder } from '../command-line.ts'
import { freePort } from '../free-port.ts'
import { ok, openShop } from '../loyalty.ts'
import { startService } from '../service.ts'

const GUIDE = new URL('../../../docs/guides/receive-webhooks.md', import.meta.url)
const file = (name: string): string =>
  fileURLToPath(new URL(`../../../docs/guides/receivers/${name}`, import.meta.url))

const RECEIVERS = [
  { name: 'receiver.mjs', program: process.execPath, language: 'js' },
  { name: 'receiver.py', program: 'python3', language: 'python' },
] as const
type Example = (typeof RECEIVERS)[number]

const SECRET = `whsec_${'abcd'.repeat(11)}`
const OTHER = `whsec_${'efgh'.repeat(11)}`

interface RunningReceiver {
  readonly url: string
  /** The lines that it printed, one per processed delivery. */
  processed(): string[]
  /** Resolves once it has processed this one. */
  waitFor(id: string): Promise<void>
  stop(): Promise<void>
}

async function startExample({ name, program }: Example, secret: string, port = 0): Promise<RunningReceiver> {
  const child: ChildProcess = spawn(program, [file(name)], {
    env: { PATH: process.env.PATH, WEBHOOK_SECRET: secret, PORT: String(port) },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  const looks = new Set<() => void>()
  for (const stream of [child.stdout!, child.stderr!])
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      said += chunk
      for (const look of looks) look()
    })
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const printed = (pattern: RegExp) =>
    new Promise<RegExpExecArray>((resolve, reject) => {
      const look = () => {
        const found = pattern.exec(said)
        if (found) resolve(found)
      }
      looks.add(look)
      look()
      void ended.then(() => reject(new Error(`it ended: ${said}`)))
    })
  const [, url] = await printed(/listening on (\S+)/)
  return {
    url: url!,
    processed: () => said.split('\n').filter((line) => line.startsWith('processed ')),
    waitFor: async (id) => void (await printed(new RegExp(`processed ${id} `))),
    async stop() {
      child.kill('SIGKILL')
      await ended
    },
  }
}

let made = 0
const newId = (): string => `whs_${String(++made).padStart(19, '0')}`
const bodyOf = (id: string): string =>
  JSON.stringify({
    id,
    type: 'EVENTS.CUSTOMER.REWARD_REDEMPTIONS.COMPLETED',
    data: { customer: { source_id: 'crm-7', name: 'Zoë' } },
    event: { id: 'evcus_0000000000000001' },
  })

interface Sending {
  readonly id?: string
  readonly secrets?: readonly string[]
  readonly ageSeconds?: number
  /** Age in the header, if it differs from the signed one. */
  readonly headerAgeSeconds?: number
  /** Body that is sent, if it differs from the signed one. */
  readonly body?: string
  readonly headers?: Readonly<Record<string, string | undefined>>
}

function requestOf({
  id = newId(),
  secrets = [SECRET],
  ageSeconds = 0,
  body,
  headers = {},
  ...told
}: Sending) {
  const signed = bodyOf(id)
  const now = Math.floor(Date.now() / 1000)
  const timestamp = now - ageSeconds
  const all = {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(now - (told.headerAgeSeconds ?? ageSeconds)),
    'webhook-signature': standardSignature(secrets, { id, timestamp, body: Buffer.from(signed) }),
    ...headers,
  }
  const given = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return { id, init: { method: 'POST', headers: Object.fromEntries(given), body: body ?? signed } }
}

for (const example of RECEIVERS) {
  const missing = spawnSync(example.program, ['--version']).error !== undefined
  const title = missing ? `${example.name} (${example.program} is not installed here)` : example.name
  describe.skipIf(missing)(title, () => {
    let receiver: RunningReceiver
    beforeAll(async () => {
      receiver = await startExample(example, SECRET)
    })
    afterAll(() => receiver?.stop())
    let before = 0
    beforeEach(() => {
      before = receiver.processed().length
    })

    async function send(sending: Sending = {}): Promise<{ id: string; status: number; text: string }> {
      const { id, init } = requestOf(sending)
      const response = await fetch(receiver.url, init)
      return { id, status: response.status, text: await response.text() }
    }
    /** Ids that were processed in this test. It first waits for one more delivery, so that late ones are included. */
    async function processedNow(): Promise<string[]> {
      const last = await send()
      await receiver.waitFor(last.id)
      return receiver
        .processed()
        .slice(before)
        .map((line) => line.split(' ')[1]!)
        .filter((id) => id !== last.id)
    }

    test('the receiver accepts a signed event, with any number of signatures', async () => {
      const first = await send()
      const rotated = await send({ secrets: [OTHER, SECRET] })
      const unknown = await send({
        headers: {
          'webhook-signature': `v1a,${'A'.repeat(86)}== ${requestSignature('whs_beside')}`,
          'webhook-id': 'whs_beside',
        },
        body: bodyOf('whs_beside'),
      })
      expect([first.status, rotated.status, unknown.status]).toEqual([204, 204, 204])
      expect(await processedNow()).toEqual([first.id, rotated.id, 'whs_beside'])
    })

    test('the receiver processes each event once, however often it arrives', async () => {
      const id = newId()
      const statuses: number[] = []
      for (const ageSeconds of [60, 0]) statuses.push((await send({ id, ageSeconds })).status)
      const together = await Promise.all(Array.from({ length: 5 }, () => send({ id })))
      statuses.push(...together.map(({ status }) => status))
      expect(statuses).toEqual(statuses.map(() => 204))
      expect(await processedNow()).toEqual([id])
    })

    test.each<[string, Sending, string]>([
      ['another secret', { secrets: [OTHER] }, 'wrong signature'],
      ['a changed byte', { body: bodyOf('whs_changed') }, 'wrong signature'],
      ['another id', { headers: { 'webhook-id': 'whs_another' } }, 'wrong signature'],
      [
        'a body that was printed again',
        { id: 'whs_again', body: JSON.stringify(JSON.parse(bodyOf('whs_again')), null, 1) },
        'wrong signature',
      ],
      ['a later timestamp than was signed', { headerAgeSeconds: -9 }, 'wrong signature'],
      ['an old timestamp', { ageSeconds: 301 }, 'timestamp too far from now'],
      ['a timestamp ahead', { ageSeconds: -330 }, 'timestamp too far from now'],
      ['a timestamp that is none', { headers: { 'webhook-timestamp': 'now' } }, 'timestamp too far from now'],
      ['no signature', { headers: { 'webhook-signature': undefined } }, 'missing signature'],
      ['no id', { headers: { 'webhook-id': undefined } }, 'missing signature'],
      ['no timestamp', { headers: { 'webhook-timestamp': undefined } }, 'missing signature'],
      ['a signature without its version', { headers: { 'webhook-signature': 'AAAA' } }, 'wrong signature'],
      ['an empty signature of the version', { headers: { 'webhook-signature': 'v1,' } }, 'wrong signature'],
    ])('refuses %s', async (_, sending, says) => {
      const { status, text } = await send(sending)
      expect({ status, text }).toEqual({ status: 400, text: says })
      expect(await processedNow()).toEqual([])
    })
  })

  test.skipIf(missing)(`${title} accepts the event of a redemption from a running service`, async () => {
    const folder = newFolder('receivers')
    const service = await startService(
      { JETON_DATA_DIR: join(folder, 'data'), JETON_WEBHOOK_ALLOW: '127.0.0.0/8' },
      { clock: systemClock },
    )
    const shop = await openShop(service)
    const port = await freePort()
    const { body: webhook } = await service.manage('POST', `/projects/${shop.projectId}/webhooks`, {
      target_url: `http://127.0.0.1:${port}/hook`,
      events: ['customer.reward_redemptions.completed'],
    })
    const receiver = await startExample(example, webhook.secret, port)
    const [card, reward] = [await shop.member(100), await shop.material()]
    await ok(shop.redeem(card.code, reward.id))
    await receiver.waitFor('whs_\\w+ {2}EVENTS.CUSTOMER.REWARD_REDEMPTIONS.COMPLETED {2}evcus_\\w+')
    await service.stop()
    await receiver.stop()
    rmSync(folder, { recursive: true, force: true })
  })
}

const requestSignature = (id: string): string => {
  const timestamp = Math.floor(Date.now() / 1000)
  return standardSignature([SECRET], { id, timestamp, body: Buffer.from(bodyOf(id)) })
}

test.each(RECEIVERS)('the guide shows the code of $name that this test runs', ({ name, language }) => {
  const guide = readFileSync(GUIDE, 'utf8')
  const shown = [...guide.matchAll(new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``, 'g'))].map(
    ([, code]) => code!,
  )
  expect(shown.length).toBeGreaterThan(0)
  const whole = readFileSync(file(name), 'utf8')
  for (const code of shown) expect(whole).toContain(code)
})
