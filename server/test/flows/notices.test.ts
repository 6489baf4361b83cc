import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { systemClock } from '../../src/platform/clock.ts'
import { openRecord } from '../delivery-record.ts'
import { eachEngine } from '../engines.ts'
import { accepts, STANDARD } from '../foreign-receivers.ts'
import { type Receiver, startReceiver } from '../receiver.ts'
import { startService } from '../service.ts'
import { startTimedService, type TimedService } from '../timed-service.ts'
import { hasWebhookServer, startWebhookServer } from '../webhook-server.ts'

const SECRET = `whsec_${Buffer.alloc(32, 5).toString('base64')}`
const ENV = {
  JETON_ENCRYPTION_KEY: Buffer.alloc(32, 9).toString('base64'),
  JETON_WEBHOOK_ALLOW: '127.0.0.0/8',
  JETON_NOTICE_SECRET: SECRET,
}
const HOUR_MS = 60 * 60_000

eachEngine((engine) => {
  let service: TimedService
  let receiver: Receiver
  beforeAll(async () => {
    receiver = await startReceiver()
    service = await startTimedService(engine, { env: { ...ENV, JETON_NOTICE_URL: receiver.url } })
  })
  afterAll(async () => {
    await service.stop()
    await receiver.close()
  })
  beforeEach(async () => {
    receiver.answer = () => ({})
    // The start of an hour, so that none ends within a test.
    await service.jump(HOUR_MS - (service.clock.now() % HOUR_MS) + 1_000)
  })

  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 5_000) await service.advance(5_000)
  }

  /** A project with a destination that Jeton has disabled. */
  async function breakDestination(of: TimedService = service) {
    const record = await openRecord(of)
    const webhook = await record.webhook({ target_url: 'https://hooks.example.com/in?token=a&b=<c>' })
    const disable = () =>
      of.service.db.transaction((tx) =>
        tx
          .write<{ destinations: { id: string; active: number; disabled_reason: string } }>()
          .updateTable('destinations')
          .set({ active: 0, disabled_reason: 'answered 410 <Gone> & more' })
          .where('id', '=', webhook)
          .execute(),
      )
    await disable()
    const enable = () => of.manage('POST', `${record.path}/webhooks/${webhook}/enable`)
    return { id: webhook, projectId: record.projectId, disable, enable }
  }
  /** Those of other subjects are left out: time that a test moves makes a process look stale. */
  const requestsOf = (id: string, at = receiver) =>
    at.received.filter(({ payload }) => payload.data.subject.id === id)
  const typesOf = (id: string) =>
    requestsOf(id).map(({ payload }) => (payload.type as string).replace('attention.', ''))
  /** Lets time pass until so many notices of the subject have arrived. */
  const arrived = (id: string, count: number) =>
    expect
      .poll(async () => {
        await service.advance(5_000)
        return requestsOf(id).length
      })
      .toBeGreaterThanOrEqual(count)

  describe('notices', () => {
    test('a problem and its end arrive once each, signed, and other code accepts them', async () => {
      const broken = await breakDestination()
      await arrived(broken.id, 1)
      await pass(120_000)
      expect(typesOf(broken.id)).toEqual(['started'])
      const { payload, headers, body } = requestsOf(broken.id)[0]!
      expect(payload).toMatchObject({
        type: 'attention.started',
        data: {
          kind: 'destination.disabled',
          severity: 'error',
          service: service.url,
          subject: { type: 'webhook', id: broken.id, project_id: broken.projectId },
          ended_at: null,
        },
      })
      const request = { headers: headers as Record<string, string>, body }
      // The clock of the receiver, which refuses old requests.
      vi.spyOn(Date, 'now').mockReturnValue(Number(headers['webhook-timestamp']) * 1000)
      for (const [name, { check }] of Object.entries(STANDARD)) {
        expect(await accepts(check, SECRET, request), name).toBe(true)
        expect(await accepts(check, SECRET, { ...request, body: `${body} ` }), name).toBe(false)
      }
      vi.restoreAllMocks()
      await broken.enable()
      await arrived(broken.id, 2)
      expect(typesOf(broken.id)).toEqual(['started', 'ended'])
      const end = requestsOf(broken.id)[1]!
      expect(end.payload.data).toMatchObject({ id: payload.data.id, ended_at: expect.any(String) })
      expect(end.headers['webhook-id']).not.toBe(headers['webhook-id'])
    })

    test('the text is one line without markup, and no part of a notice has the path of a receiver', async () => {
      const broken = await breakDestination()
      await arrived(broken.id, 1)
      const { payload, body } = requestsOf(broken.id)[0]!
      expect(payload.text).toBe(
        `Jeton ${service.url}: error: Events to https://hooks.example.com/… are held: answered 410 &lt;Gone&gt; &amp; more. Fix: jeton webhook enable ${broken.id} --project ${broken.projectId}`,
      )
      expect(body).not.toContain('token=a')
      await broken.enable()
      await arrived(broken.id, 2)
      expect(requestsOf(broken.id)[1]!.payload.text).toMatch(/: over after \d min: Events to/)
    })

    test('a problem that comes back in the same hour is reported in the next one', async () => {
      const broken = await breakDestination()
      await arrived(broken.id, 1)
      await broken.enable()
      await arrived(broken.id, 2)
      await broken.disable()
      await pass(120_000)
      expect(typesOf(broken.id)).toEqual(['started', 'ended'])
      await service.jump(HOUR_MS)
      await arrived(broken.id, 3)
      await pass(60_000)
      expect(typesOf(broken.id)).toEqual(['started', 'ended', 'started'])
    })

    test('a notice that is not accepted is sent again with the same id and bytes, and its end is not dropped', async () => {
      receiver.answer = () => ({ status: 500 })
      const broken = await breakDestination()
      await arrived(broken.id, 3)
      const sent = requestsOf(broken.id)
      expect(new Set(sent.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
      expect(new Set(sent.map(({ body }) => body)).size).toBe(1)
      await broken.enable()
      await pass(120_000)
      const accepted: string[] = []
      receiver.answer = ({ payload }) => {
        if (payload.data.subject.id === broken.id) accepted.push(payload.type)
        return {}
      }
      await expect
        .poll(async () => {
          await service.advance(30_000)
          return accepted.at(-1)
        })
        .toBe('attention.ended')
      await pass(120_000)
      // A start that is accepted before its end is recorded comes first.
      expect(accepted.filter((type) => type !== 'attention.started')).toEqual(['attention.ended'])
      expect(accepted.at(-1)).toBe('attention.ended')
    })

    test('information is not reported', async () => {
      const { id } = await service.project('Unused')
      const key = await service.key(id)
      await service.service.db.transaction((tx) =>
        tx
          .write<{ api_keys: { id: string; created_at: number } }>()
          .updateTable('api_keys')
          .set({ created_at: 0 })
          .where('id', '=', key.id)
          .execute(),
      )
      const { body } = await service.manage('GET', `/projects/${id}/attention`)
      expect(body.data).toMatchObject([{ kind: 'key.unused', severity: 'info' }])
      await pass(60_000)
      expect(requestsOf(key.id)).toEqual([])
    })

    test('a receiver that never answers delays neither tokens nor events nor the end of the process', async () => {
      const hanging = await startReceiver()
      hanging.answer = () => null
      const own = await startTimedService(engine, { env: { ...ENV, JETON_NOTICE_URL: hanging.url } })
      const { id: webhook } = await breakDestination(own)
      const advancing = async (count: () => number) => {
        await own.advance(5_000)
        return count()
      }
      await expect.poll(() => advancing(() => requestsOf(webhook, hanging).length)).toBe(1)
      const events = await startReceiver()
      const { id } = await own.project('Busy')
      const key = await own.key(id)
      const { body } = await own.manage('POST', `/projects/${id}/webhooks`, {
        target_url: events.url,
        events: ['customer.reward_redemptions.completed'],
      })
      expect((await own.issue(key, 'api')).status).toBe(200)
      await own.manage('POST', `/projects/${id}/webhooks/${body.id}/test`)
      await expect.poll(() => advancing(() => events.received.length)).toBe(1)
      const begun = performance.now()
      await own.stop()
      expect(performance.now() - begun).toBeLessThan(5_000)
      await Promise.all([hanging.close(), events.close()])
    })

    test.each([
      ['a private address', 'http://10.0.0.4/in', /10\.0\.0\.4 is a private address.*JETON_WEBHOOK_ALLOW/],
      ['plain http', 'http://hooks.example.com/secret', /plain http/],
      ['a user name', 'https://a:b@hooks.example.com/', /without user name/],
    ])('a service does not start with %s as the address of notices', async (_, url, message) => {
      const env = { ...(await engine.settings()), ...ENV, JETON_WEBHOOK_ALLOW: '', JETON_NOTICE_URL: url }
      const started = startService(env, { clock: systemClock })
      await expect(started).rejects.toThrow(message)
      await expect(started).rejects.toThrow(/^JETON_NOTICE_URL: /)
      await expect(started).rejects.not.toThrow(/secret|target_url/)
    })

    const missing = hasWebhookServer ? '' : ' (skipped, since it is not installed)'
    test.skipIf(!hasWebhookServer)(
      `the webhook server of Debian accepts a notice, and none that another secret signed${missing}`,
      async () => {
        for (const [secret, count] of [
          [SECRET, 1],
          [`${SECRET.slice(0, -8)}AAAAAAA=`, 0],
        ] as const) {
          const server = await startWebhookServer(secret)
          const own = await startTimedService(engine, { env: { ...ENV, JETON_NOTICE_URL: server.url } })
          await breakDestination(own)
          const tried = () =>
            own.service.db
              .read<{ notices: { kind: string; next_attempt_at: number | null; attempts: number } }>()
              .selectFrom('notices')
              .select((eb) => eb.fn.countAll().as('count'))
              .where('kind', '=', 'destination.disabled')
              .where((eb) => eb.or([eb('attempts', '>', 0), eb('next_attempt_at', 'is', null)]))
              .executeTakeFirstOrThrow()
          await expect
            .poll(async () => {
              await own.advance(5_000)
              return Number((await tried()).count)
            })
            .toBe(1)
          const accepted = server.accepted().filter((body) => body.includes('destination.disabled'))
          expect(accepted).toHaveLength(count)
          await own.stop()
          await server.stop()
        }
      },
    )
  })
})
