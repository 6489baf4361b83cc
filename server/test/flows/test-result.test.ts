import { once } from 'node:events'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { systemClock } from '../../src/platform/clock.ts'
import { jeton, spawnJeton } from '../command-line.ts'
import { KIND } from '../delivery-record.ts'
import { eachEngine, type TestStore } from '../engines.ts'
import { freePort } from '../free-port.ts'
import { openShop } from '../loyalty.ts'
import { type Receiver, startReceiver } from '../receiver.ts'
import { type Client, OPERATOR, startService, type TestService } from '../service.ts'
import { startTimedService } from '../timed-service.ts'

const ENV = {
  JETON_ENCRYPTION_KEY: Buffer.alloc(32, 9).toString('base64'),
  JETON_WEBHOOK_ALLOW: '127.0.0.0/8',
}

let projects = 0
async function createWebhook(client: Client, targetUrl: string) {
  const { id: projectId } = await client.project(`Tested ${++projects}`)
  const path = `/projects/${projectId}/webhooks`
  const { body } = await client.manage('POST', path, { target_url: targetUrl, events: [KIND] })
  return { id: body.id as string, projectId, path: `${path}/${body.id}` }
}

eachEngine((engine) => {
  let store: TestStore
  let service: TestService
  let withoutWorker: TestService
  let receiver: Receiver
  const alone = async () => startService({ ...store.env, ...ENV }, { clock: systemClock, worker: false })
  beforeAll(async () => {
    service = await startService({ ...(await engine.settings()), ...ENV }, { clock: systemClock })
    store = await engine.freshStore()
    withoutWorker = await alone()
  })
  afterAll(async () => {
    await service.stop()
    await withoutWorker.stop()
  })
  beforeEach(async () => {
    receiver = await startReceiver()
    return () => receiver.close()
  })

  const command = (url: string, projectId: string, line: string) =>
    jeton(line.split(' '), {
      env: {
        JETON_URL: url,
        JETON_MANAGEMENT_ID: OPERATOR.id,
        JETON_MANAGEMENT_TOKEN: OPERATOR.token,
        JETON_PROJECT: projectId,
        XDG_CONFIG_HOME: '/nowhere',
        NO_COLOR: '1',
      },
      isTTY: true,
    })

  describe('a test event that is waited for', () => {
    test('a test event with wait returns the attempt and the response of the receiver', async () => {
      receiver.answer = () => ({ status: 200, body: 'thanks' })
      const { path } = await createWebhook(service, receiver.url)
      const { status, body } = await service.manage('POST', `${path}/test?wait_ms=15000`)
      expect([status, body.object, body.status, body.attempts_made]).toEqual([
        201,
        'delivery',
        'delivered',
        1,
      ])
      expect(body.attempt).toEqual({
        at: expect.any(String),
        duration_ms: expect.any(Number),
        status: 200,
        response_body: 'thanks',
        error: null,
      })
      expect(body).toMatchObject({
        event_kind: 'webhook.test',
        destination_url: receiver.url,
        last_attempt: { at: body.attempt.at, status: 200, error: null },
      })
    })

    test('a test event of a distribution with wait returns the attempt, also a failed one', async () => {
      receiver.answer = () => ({ status: 503, body: 'closed' })
      const shop = await openShop(service)
      const path = `/projects/${shop.projectId}/distributions`
      const fields = { name: 'CRM', campaign_id: shop.campaign.id, target_url: receiver.url }
      const { body: made } = await service.manage('POST', path, fields)
      const { status, body } = await service.manage('POST', `${path}/${made.id}/test?wait_ms=15000`)
      expect([status, body.status]).toEqual([201, 'pending'])
      expect(body.attempt).toMatchObject({ status: 503, response_body: 'closed', error: 'answered 503' })
    })

    test('a test event is waited for only on request, and for at most 15 s', async () => {
      receiver.answer = () => null
      const { path } = await createWebhook(service, receiver.url)
      const { status, body } = await service.manage('POST', `${path}/test`)
      expect([status, body.status, body.attempt]).toEqual([201, 'pending', null])
      for (const wait of ['15001', '-1', '1.5', 'long'])
        expect((await service.manage('POST', `${path}/test?wait_ms=${wait}`)).status, wait).toBe(400)
    })

    test('the command line shows the result of a test event, with exit code 0 if it was accepted and 1 if not', async () => {
      receiver.answer = () => ({ status: 200, body: 'thanks' })
      const { id, projectId } = await createWebhook(service, receiver.url)
      const good = await command(service.url, projectId, `webhook test ${id}`)
      expect([good.code, good.err]).toEqual([0, ''])
      expect(good.out).toMatch(/^status +delivered\nattempts_made +1\n/)
      expect(good.out).toMatch(/\n\nAT +DURATION MS +STATUS +RESPONSE BODY +ERROR\n.* 200 +thanks +–\n$/)

      receiver.answer = () => ({ status: 500, body: 'broken' })
      const bad = await command(service.url, projectId, `webhook test ${id}`)
      expect(bad.code).toBe(1)
      expect(bad.out).toMatch(/^status +pending\n[\s\S]* 500 +broken +answered 500\n$/)
      const [, delivery] = /^Failed: answered 500\. Retry: jeton delivery retry (whs_\w+)\n$/.exec(bad.err)!
      expect(bad.out).toContain(delivery)

      const nobody = await createWebhook(service, `http://127.0.0.1:${await freePort()}/hook`)
      const refused = await command(service.url, nobody.projectId, `webhook test ${nobody.id} --json`)
      expect([refused.code, JSON.parse(refused.out).attempt.status]).toEqual([1, null])
      expect(refused.err).toContain(`Failed: ${JSON.parse(refused.out).attempt.error}.`)
    })
  })

  describe('a test event that another process sends', () => {
    test('a test event that another process sends returns its attempt', async () => {
      receiver.answer = () => ({ status: 202, body: 'from afar' })
      const { path } = await createWebhook(withoutWorker, receiver.url)
      const worker = spawnJeton(['worker'], { ...store.env, ...ENV })
      const ended = once(worker, 'exit')
      try {
        // The wait of 15 s is for the attempt, and not for the start of a process on a busy machine.
        await new Promise<void>((resolve) =>
          worker.stdout.on('data', (text) => String(text).includes('sending events') && resolve()),
        )
        const { body } = await withoutWorker.manage('POST', `${path}/test?wait_ms=15000`)
        expect([body.status, body.attempt?.response_body]).toEqual(['delivered', 'from afar'])
      } finally {
        worker.kill('SIGTERM')
        await ended
      }
    })

    test('a test event that no process sends is reported as not sent in time', async () => {
      const { id, path, projectId } = await createWebhook(withoutWorker, receiver.url)
      const { status, body } = await withoutWorker.manage('POST', `${path}/test?wait_ms=100`)
      expect([status, body.attempts_made, body.attempt]).toEqual([201, 0, null])
      const { code, err } = await command(withoutWorker.url, projectId, `webhook test ${id} --wait-ms 100`)
      expect([code, err]).toEqual([1, expect.stringContaining('No attempt was made in time.')])
    })
  })

  describe('a wait for a test event', () => {
    const ask = (client: TestService, path: string, signal?: AbortSignal) =>
      fetch(`${client.managementUrl}/management/v1${path}/test?wait_ms=15000`, {
        method: 'POST',
        headers: { 'x-management-id': OPERATOR.id, 'x-management-token': OPERATOR.token },
        ...(signal && { signal }),
      })
    const startWaiting = async () => {
      const timed = await startTimedService(engine, { env: ENV, worker: false })
      const { path } = await createWebhook(timed, receiver.url)
      const idle = timed.clock.sleeping
      const abort = new AbortController()
      const answer = ask(timed, path, abort.signal)
      await expect.poll(() => timed.clock.sleeping).toBe(idle + 1)
      return { timed, idle, abort, answer }
    }

    test('a wait for a test event ends at its deadline, and not before', async () => {
      const { timed, answer } = await startWaiting()
      let isAnswered = false
      void answer.then(() => (isAnswered = true))
      for (let ms = 0; ms < 14_900; ms += 100) await timed.advance(100)
      expect(isAnswered).toBe(false)
      while (!isAnswered) await timed.advance(100)
      expect(await (await answer).json()).toMatchObject({ status: 'pending', attempt: null })
      await timed.stop()
    })

    test('a wait for a test event ends when the client disconnects', async () => {
      const { timed, idle, abort, answer } = await startWaiting()
      abort.abort()
      await expect(answer).rejects.toThrow()
      await expect.poll(() => timed.clock.sleeping).toBe(idle)
      await timed.stop()
    })

    test('a wait for a test event ends with a response when the service shuts down', async () => {
      const stopping = await alone()
      const { id, path } = await createWebhook(stopping, receiver.url)
      const answer = ask(stopping, path)
      const isAudited = async () =>
        (await stopping.manage('GET', `/audit-log?subject=${id}`)).body.data[0].action === 'webhook.tested'
      await expect.poll(isAudited).toBe(true)
      const began = performance.now()
      await Promise.all([stopping.stop(), expect(answer).resolves.toMatchObject({ status: 201 })])
      expect(performance.now() - began).toBeLessThan(7_000)
      expect(await (await answer).json()).toMatchObject({ status: 'pending', attempt: null })
    })
  })
})
