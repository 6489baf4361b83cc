import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { Webhook } from 'standardwebhooks'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { findEvent, insertEvent } from '../../src/features/events/index.ts'
import { systemClock } from '../../src/platform/clock.ts'
import {
  jeton,
  newFolder,
  type RunningCommand,
  type Surroundings,
  spawnJeton,
  startJeton,
} from '../command-line.ts'
import { freePort } from '../free-port.ts'
import { ok, openShop, type Shop } from '../loyalty.ts'
import { type Received, type Receiver, startReceiver } from '../receiver.ts'
import { OPERATOR, startService, type TestService } from '../service.ts'

const KIND = 'EVENTS.CUSTOMER.REWARD_REDEMPTIONS.COMPLETED'
const WIRE = 'customer.reward_redemptions.completed'

let folder: string
let settings: Record<string, string>
let service: TestService
/** New for every test. */
let shop: Shop
let receiver: Receiver
/** The real target of webhooks. */
let elsewhere: Receiver
let card: { code: string }
let reward: { id: string }
const running: RunningCommand[] = []

beforeAll(async () => {
  folder = newFolder('listen')
  elsewhere = await startReceiver()
  settings = {
    JETON_DATA_DIR: join(folder, 'data'),
    JETON_PORT: String(await freePort()),
    JETON_WEBHOOK_ALLOW: '127.0.0.0/8',
  }
  service = await startService(settings, { clock: systemClock })
})
afterAll(async () => {
  await service.stop()
  await elsewhere.close()
  rmSync(folder, { recursive: true, force: true })
})
beforeEach(async () => {
  shop = await openShop(service)
  card = await shop.member(10_000)
  reward = await shop.material()
  receiver = await startReceiver()
})
afterEach(async () => {
  for (const command of running.splice(0)) await command.stop()
  await receiver.close()
})

const env = () => ({
  JETON_URL: service.url,
  JETON_MANAGEMENT_ID: OPERATOR.id,
  JETON_MANAGEMENT_TOKEN: OPERATOR.token,
  JETON_PROJECT: shop.projectId,
  XDG_CONFIG_HOME: folder,
  NO_COLOR: '1',
})
const start = (argv: string[], around: Partial<Surroundings> = {}): RunningCommand => {
  const command = startJeton(argv, { env: env(), ...around })
  running.push(command)
  return command
}
/** Resolves once the command says that it listens. Every later event must arrive. */
async function listening(flags: string[] = [], around: Partial<Surroundings> = {}): Promise<RunningCommand> {
  const command = start(['listen', '--forward-to', receiver.url, ...flags], around)
  await command.printed(/Ctrl-C to quit|Waiting|first\./)
  return command
}
async function redeem(): Promise<string> {
  const answer = await shop.redeem(card.code, reward.id)
  await ok(Promise.resolve(answer))
  const events = await service.manage('GET', `/projects/${shop.projectId}/events`)
  return events.body.data.find(
    (one: { group_id: string }) => one.group_id === answer.headers.get('x-request-id'),
  ).id
}
async function create(kind: 'webhook' | 'distribution', fields: object = {}) {
  const own = kind === 'webhook' ? { events: [KIND] } : { name: 'CRM', campaign_id: shop.campaign.id }
  const body = { target_url: elsewhere.url, ...own, ...fields }
  const answer = await service.manage('POST', `/projects/${shop.projectId}/${kind}s`, body)
  expect(answer.status, answer.text).toBe(201)
  return answer.body as { id: string; secret: string }
}
/** Ids of the deliveries, once there are `count`. */
async function fannedOut(count: number): Promise<string[]> {
  for (;;) {
    const { body } = await service.manage('GET', `/projects/${shop.projectId}/deliveries`)
    if (body.total >= count) return body.data.map(({ id }: { id: string }) => id).sort()
  }
}
const checked = (secret: string, { body, headers }: Received) =>
  new Webhook(secret).verify(body, headers as Record<string, string>) as {
    id: string
    data: { publication?: object }
    source: { id: string; target_url: string }
    event: { id: string }
  }
const eventsIn = (received: readonly Received[]): string[] => received.map(({ payload }) => payload.event.id)

describe('listen', () => {
  test('listen forwards each event to this machine, signed with the secret of the webhook', async () => {
    const webhook = await create('webhook', { description: 'crm' })
    const command = await listening()
    expect(command.said()).toContain(`Signing with the secret of ${webhook.id} "crm" (choose with --as).`)
    expect(command.said()).not.toContain('whsec_')
    const ids = [await redeem(), await redeem()]
    const received = await receiver.receivedAtLeast(2)
    expect(received.map((one) => checked(webhook.secret, one).event.id)).toEqual(ids)
    expect(received[0]!.headers).toMatchObject({ 'x-jeton-event': KIND, 'x-jeton-attempt': '1' })
    const { code } = await command.stop()
    expect(code).toBe(0)
  })

  test('listen skips earlier events, and with --since forwards them oldest first with their delivery ids', async () => {
    const webhook = await create('webhook')
    const before = [await redeem(), await redeem(), await redeem()]
    const command = await listening()
    const after = await redeem()
    expect(eventsIn(await receiver.receivedAtLeast(1))).toEqual([after])
    await command.stop()
    const deliveries = await fannedOut(4)

    const { code, err } = await jeton(
      ['listen', '--forward-to', receiver.url, '--since', '1h', '--events', '4'],
      { env: env() },
    )
    expect(code).toBe(0)
    expect(err).toContain('Starting with events since 1h.')
    const again = receiver.received.slice(1)
    expect(eventsIn(again)).toEqual([...before, after])
    expect(again.map((one) => checked(webhook.secret, one).id).sort()).toEqual(deliveries)
  })

  test('listen without a webhook creates a secret for the run and shows it', async () => {
    const command = await listening()
    const [secret] = await command.printed(/whsec_\w{44}/)
    expect(command.said()).toContain('There is no webhook yet')
    const id = await redeem()
    const [one] = await receiver.receivedAtLeast(1)
    expect(checked(secret, one!)).toMatchObject({ source: { target_url: receiver.url }, event: { id } })
    await command.stop()

    // The secret is kept, so that the receiver needs no new one each time.
    await jeton(
      ['listen', '--forward-to', receiver.url, '--secret', secret, '--since', '1h', '--events', '1'],
      { env: env() },
    )
    expect(checked(secret, receiver.received[1]!).id).toBe(checked(secret, one!).id)
  })

  test('listen --as replaces a distribution, with its publication, and receives only its events', async () => {
    await create('webhook')
    const voucher = { type: 'LOYALTY_CARD', loyalty_card: { points: 0 } }
    const other = await ok(shop.call('POST', '/loyalties', { name: `Other ${shop.projectId}`, voucher }))
    const [distribution, another] = [
      await create('distribution', { name: 'Tell the CRM', headers: { 'x-tenant': 'seven' } }),
      await create('distribution', { name: 'Elsewhere', campaign_id: other.id }),
    ]
    const silent = await listening(['--as', 'Elsewhere'])
    expect(silent.said()).toContain(another.id)
    const command = await listening(['--as', 'Tell the CRM'])
    expect(command.said()).toContain('Its custom headers (x-tenant) are not sent.')
    await redeem()
    const received = await receiver.receivedAtLeast(1)
    expect(checked(distribution.secret, received[0]!)).toMatchObject({
      source: { id: distribution.id },
      data: { publication: { object: 'publication' } },
    })
    // The silent one has seen it too, and goes on: its own would come after it.
    await service.manage('POST', `/projects/${shop.projectId}/distributions/${another.id}/test`)
    const [, own] = await receiver.receivedAtLeast(2)
    expect(checked(another.secret, own!)).toMatchObject({
      type: 'webhook.test',
      source: { id: another.id },
    })
  })

  test('listen skips no event while the server is down, and reports the outage once', async () => {
    const webhook = await create('webhook')
    const command = await listening()
    const ids = [await redeem()]
    await receiver.receivedAtLeast(1)
    await service.stop()
    await command.printed(/ Retrying until the server is back\./)
    service = await startService(settings, { clock: systemClock })
    ids.push(await redeem())
    await command.printed(/The server is back; no event was skipped\./)
    const received = await receiver.receivedAtLeast(2)
    expect(received.map((one) => checked(webhook.secret, one).event.id)).toEqual(ids)
    await command.stop()
    expect(command.said().match(/Retrying until/g)).toHaveLength(1)
  })

  test('listen does not miss an event that is committed after a newer one', async () => {
    await create('webhook')
    const command = await listening()
    const first = await redeem()
    await receiver.receivedAtLeast(1)
    const { db } = service.service
    const row = (await findEvent(db, shop.projectId, first))!
    const late = { ...row, id: 'evcus_late000000000000', created_at: row.created_at - 50_000 }
    await db.transaction((tx) => insertEvent(tx, late))
    expect(eventsIn(await receiver.receivedAtLeast(2))).toEqual([first, late.id])
    await command.stop()
    expect(receiver.received).toHaveLength(2)
  })

  test('listen shows the response to a rejected event, r resends it and d prints it', async () => {
    receiver.answer = () => ({ status: 400, body: 'missing \u001b[2Jsignature\nand more' })
    const command = await listening([], { isTTY: true })
    const id = await redeem()
    const [line] = await command.printed(/\d\d:\d\d:\d\d {2}.*\n/)
    expect(line).toMatch(new RegExp(`${WIRE} {2}${id} {2}→ {2}400 {2}\\d+ ms`))
    expect(line).toContain('"missing  [2Jsignature and more"   r to resend · d for details')

    receiver.answer = () => ({ status: 204 })
    command.press('r')
    await command.printed(/→ {2}204 {2}\d+ ms {2}\(attempt 2\)/)
    const [first, second] = receiver.received
    expect(second!.headers['webhook-id']).toBe(first!.headers['webhook-id'])
    expect(second!.body).toBe(first!.body)
    expect(second!.headers['x-jeton-attempt']).toBe('2')

    command.press('d')
    await command.printed(/webhook-signature: v1,/)
    expect(command.said()).toContain(first!.body)
    expect(command.said()).not.toContain('\u001b')
    // Nothing is retried automatically here: a refused delivery stays refused unless the key is pressed.
    expect((await command.stop()).code).toBe(0)
  })

  test('listen --events reads no keys, so that pasted lines reach the shell', async () => {
    receiver.answer = () => ({ status: 400, body: 'no' })
    await redeem()
    const command = start(['listen', '--forward-to', receiver.url, '--since', '1h', '--events', '1'], {
      isTTY: true,
    })
    const { code, out } = await command.ended
    expect([code, command.readsKeys()]).toEqual([1, false])
    expect(out).toContain('"no"')
    expect(out).not.toContain('r to resend')
    expect((await listening([], { isTTY: true })).readsKeys()).toBe(true)
  })

  test('listen reports a receiver that is not running, and still forwards the next event', async () => {
    await create('webhook')
    const host = `127.0.0.1:${await freePort()}`
    const refused = `connection refused: nothing is listening on ${host}`
    const command = start(['listen', '--forward-to', `${host}/hook`])
    await command.printed(/Ctrl-C/)
    const ids = [await redeem(), await redeem()]
    await command.printed(new RegExp(`${ids[1]}\t\t\\d+\t${refused}`))
    expect(command.said()).toMatch(new RegExp(`${ids[0]}\t\t\\d+\t${refused}`))
  })

  test('listen prints tabs or JSON for programs, and ends with 1 if the receiver rejected an event', async () => {
    const webhook = await create('webhook')
    const id = await redeem()
    const argv = [
      'listen',
      '--forward-to',
      receiver.url.replace('http://', ''),
      '--since',
      '1h',
      '--events',
      '1',
    ]
    const tabs = await jeton(argv, { env: env() })
    expect(tabs).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^\S+Z\t\S+\tevcus_\w+\t204\t\d+\t\n$/),
    })
    receiver.answer = () => ({ status: 500, body: 'broken' })
    const { code, out } = await jeton([...argv, '--json'], { env: env() })
    expect(code).toBe(1)
    expect(JSON.parse(out)).toMatchObject({
      event_id: id,
      delivery_id: expect.stringMatching(/^whs_/),
      type: WIRE,
      attempt: 1,
      status: 500,
      answer: 'broken',
    })
    expect(checked(webhook.secret, receiver.received[1]!).event.id).toBe(id)
  })

  test('events that listen forwards are not recorded as deliveries', async () => {
    await create('webhook', { active: false })
    const command = await listening()
    await redeem()
    await receiver.receivedAtLeast(1)
    await command.stop()
    const { body } = await service.manage('GET', `/projects/${shop.projectId}/deliveries`)
    for (const one of body.data) expect(one).toMatchObject({ status: 'held', attempts_made: 0 })
  })

  test('Ctrl-C ends listen at once with exit code 0', async () => {
    await create('webhook')
    const child = spawnJeton(['listen', '--forward-to', receiver.url], env())
    const ended = new Promise((resolve) => child.once('exit', (code, signal) => resolve(code ?? signal)))
    let said = ''
    await new Promise<void>((resolve, reject) => {
      child.stderr.on('data', (chunk) => {
        said += chunk
        if (said.includes('Ctrl-C')) resolve()
      })
      void ended.then((code) => reject(new Error(`ended with ${code}: ${said}`)))
    })
    const id = await redeem()
    expect(eventsIn(await receiver.receivedAtLeast(1))).toEqual([id])
    child.kill('SIGINT')
    expect(await ended).toBe(0)
  })

  test.each([
    [['--forward-to', 'ftp://localhost'], 'is not a URL such as localhost:3000/hook'],
    [['--forward-to', 'http://'], 'is not a URL such as localhost:3000/hook'],
    [['--forward-to', 'localhost:3000', '--since', 'yesterday'], '--since: "yesterday" is not a duration'],
    [['--forward-to', 'localhost:3000', '--since', '2026-99-99'], '--since: expected a time such as'],
    [['--forward-to', 'localhost:3000', '--events', '0'], '--events: "0" is not a positive number'],
    [[], '--forward-to'],
  ])('listen %j is a usage error before any request', async (flags, says) => {
    const { code, err } = await jeton(['listen', ...flags], { env: { XDG_CONFIG_HOME: '/nonexistent' } })
    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining(says) })
  })

  test('listen ends with 3 for an unknown destination and 69 for an unreachable server', async () => {
    const argv = ['listen', '--forward-to', receiver.url]
    expect((await jeton([...argv, '--as', 'wh_0000000000000000'], { env: env() })).code).toBe(3)
    expect((await jeton([...argv, '--as', 'Nobody'], { env: env() })).code).toBe(3)
    const away = `http://127.0.0.1:${await freePort()}`
    expect((await jeton(argv, { env: { ...env(), JETON_URL: away } })).code).toBe(69)
  })
})

describe('event', () => {
  test('event tail prints each event once, when it is written', async () => {
    const command = start(['event', 'tail', '--quiet', '--since', '1h'])
    const ids: string[] = []
    for (let i = 0; i < 3; i++) {
      ids.push(await redeem())
      await command.printed(new RegExp(ids[i]!))
    }
    const { code, out } = await command.stop()
    expect({ code, out }).toEqual({ code: 0, out: `${ids.join('\n')}\n` })
  })

  test('event tail has output for programs and people, and ends after --events', async () => {
    const [first, second] = [await redeem(), await redeem()]
    const argv = ['event', 'tail', '--since', '1h', '--kind', WIRE, '--events', '2']
    const tabs = await jeton(argv, { env: env() })
    expect(tabs).toMatchObject({ code: 0, err: '' })
    expect(tabs.out.split('\n').map((line) => line.split('\t')[1])).toEqual([first, second, undefined])
    const people = await jeton(argv, { env: env(), isTTY: true })
    expect(people.out).toMatch(new RegExp(`^\\d\\d:\\d\\d:\\d\\d {2}${WIRE} {2}${first} {2}cust_\\w+\n`))
    const [line] = (await jeton([...argv, '--json'], { env: env() })).out.split('\n')
    expect(JSON.parse(line!)).toMatchObject({ id: first, kind: KIND })
    expect((await jeton([...argv, '--kind', 'nonsense'], { env: env() })).code).toBe(1)
  })

  test('event kinds lists the kinds of events', async () => {
    expect((await jeton(['event', 'kinds', '--quiet'], { env: env() })).out).toBe(`${KIND}\n`)
    const { code, out } = await jeton(['event', 'kinds'], { env: env() })
    expect(code).toBe(0)
    expect(out).toContain(`${KIND}\t${WIRE}\t2024-01-01\t`)
    // The command needs no operator.
    expect((await jeton(['event', 'kinds', '--url', service.url], { env: {} })).code).toBe(0)
  })
})

test('event tail prints more than a page of events exactly once, including one that is committed late', async () => {
  await create('webhook')
  const command = await listening()
  const cards = await Promise.all(Array.from({ length: 10 }, () => shop.member(10_000)))
  await Promise.all(
    cards.map(async ({ code }) => {
      for (let i = 0; i < 12; i++) await ok(shop.redeem(code, reward.id))
    }),
  )
  const received = await receiver.receivedAtLeast(120)
  expect(new Set(eventsIn(received)).size).toBe(120)
  const { db } = service.service
  const first = (await findEvent(db, shop.projectId, eventsIn(received)[0]!))!
  const late = { ...first, id: 'evcus_behind0000000000', created_at: first.created_at - 1_000 }
  await db.transaction((tx) => insertEvent(tx, late))
  expect(eventsIn(await receiver.receivedAtLeast(121))[120]).toBe(late.id)
  await command.stop()
  expect(receiver.received).toHaveLength(121)
})
