import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { SAMPLE_PROJECT } from '../../src/app/first-start.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { jeton, newFolder } from '../command-line.ts'
import { EXHAUSTED, KIND, openRecord } from '../delivery-record.ts'
import { eachEngine } from '../engines.ts'
import { type Receiver, startReceiver } from '../receiver.ts'
import { clientOf, OPERATOR, startService, type TestService } from '../service.ts'
import { startTimedService, type TimedService } from '../timed-service.ts'

const HOUR_MS = 60 * 60_000
const DAY_MS = 24 * HOUR_MS
const ENV = {
  JETON_ENCRYPTION_KEY: Buffer.alloc(32, 9).toString('base64'),
  JETON_WEBHOOK_ALLOW: '127.0.0.1',
  JETON_TRUSTED_PROXIES: '127.0.0.1',
}

interface Entry {
  readonly kind: string
  readonly subject: { readonly id: string; readonly project_id: string | null }
  readonly message: string
  readonly fix: { readonly command: string }
}

eachEngine((engine) => {
  let service: TimedService
  let receiver: Receiver
  const folder = newFolder('attention')
  beforeAll(async () => {
    receiver = await startReceiver()
    service = await startTimedService(engine, { env: ENV })
  })
  afterAll(async () => {
    await service.stop()
    await receiver.close()
  })

  const attention = async (projectId?: string): Promise<Entry[]> => {
    const path = projectId === undefined ? '/attention' : `/projects/${projectId}/attention`
    const { status, body, text } = await service.manage('GET', path)
    expect(status, text).toBe(200)
    return body.data
  }
  const entry = async (kind: string, projectId: string) =>
    (await attention(projectId)).find((one) => one.kind === kind)

  /** Types the command that an entry names. */
  const run = async (command: string) => {
    const env = {
      JETON_URL: service.url,
      JETON_MANAGEMENT_ID: OPERATOR.id,
      JETON_MANAGEMENT_TOKEN: OPERATOR.token,
      XDG_CONFIG_HOME: folder,
      NO_COLOR: '1',
    }
    const { code, err } = await jeton(command.replace(/^jeton /, '').split(' '), { env })
    expect(code, `${command}\n${err}`).toBe(0)
  }

  const update = (table: string, id: string, fields: object) =>
    service.service.db.transaction((tx) =>
      tx
        .write<Record<string, { id: string }>>()
        .updateTable(table)
        .set(fields as never)
        .where('id', '=', id)
        .execute(),
    )

  describe('what needs attention', () => {
    test('nothing needs attention in a new project', async () => {
      const { id } = await service.project('Quiet')
      expect(await attention(id)).toEqual([])
    })

    test('a destination that Jeton disabled is listed until the named command enables it', async () => {
      const record = await openRecord(service)
      const webhook = await record.webhook({ target_url: receiver.url })
      await update('destinations', webhook, { active: 0, disabled_reason: 'answered 410 Gone' })
      const found = await entry('destination.disabled', record.projectId)
      expect(found).toMatchObject({ subject: { id: webhook, project_id: record.projectId } })
      expect(found!.message).toContain('answered 410 Gone')
      await run(found!.fix.command)
      expect(await entry('destination.disabled', record.projectId)).toBeUndefined()
    })

    test('a destination that an operator disabled is not listed', async () => {
      const record = await openRecord(service)
      const webhook = await record.webhook()
      await service.manage('POST', `${record.path}/webhooks/${webhook}/disable`)
      expect(await attention(record.projectId)).toEqual([])
    })

    test('a destination that fails for an hour is listed until its deliveries succeed again', async () => {
      const record = await openRecord(service)
      const webhook = await record.webhook({ target_url: receiver.url })
      const now = service.clock.now()
      await record.delivery(webhook, {
        attempts_made: 1,
        first_attempt_at: now - HOUR_MS,
        next_attempt_at: now + DAY_MS,
        last_error: 'connection refused',
      })
      await update('destinations', webhook, { failing_since: now - HOUR_MS + 1_000 })
      expect(await entry('destination.failing', record.projectId)).toBeUndefined()
      await update('destinations', webhook, { failing_since: now - HOUR_MS })
      const found = await entry('destination.failing', record.projectId)
      expect(found).toMatchObject({ subject: { id: webhook } })
      await run(found!.fix.command)
      await service.advance(2_000)
      await expect.poll(() => entry('destination.failing', record.projectId)).toBeUndefined()
    })

    test('exhausted deliveries are listed until the named command sends them again', async () => {
      const record = await openRecord(service)
      const webhook = await record.webhook({ target_url: receiver.url })
      await record.deliveries(webhook, [EXHAUSTED, EXHAUSTED])
      const found = await entry('deliveries.exhausted', record.projectId)
      expect(found!.message).toContain('2 deliveries')
      await run(found!.fix.command)
      expect(await entry('deliveries.exhausted', record.projectId)).toBeUndefined()
    })

    test('a project near its token limit is listed with the key to blame, until its tokens are revoked', async () => {
      const { id } = await service.project('Busy')
      const [quiet, busy] = [await service.key(id), await service.key(id, { name: 'busy' })]
      await service.issue(quiet, 'api')
      const issue = async (count: number) => {
        for (let i = 0; i < count; i += 40)
          await Promise.all(Array.from({ length: Math.min(40, count - i) }, () => service.issue(busy, 'api')))
      }
      await issue(798)
      expect(await attention(id)).toEqual([])
      await issue(1)
      const near = await entry('tokens.near_limit', id)
      expect(near!.message).toBe('Project "Busy" has 800 of 1000 active tokens; 799 belong to key "busy".')
      await issue(200)
      const full = await entry('tokens.limit_reached', id)
      expect(full!.message).toContain('1000 of 1000')
      await run(full!.fix.command)
      expect(await attention(id)).toEqual([])
    })

    test('an active key that was not used for 90 days is listed until it is deleted or used', async () => {
      const { id } = await service.project('Old')
      const [unused, used] = [await service.key(id), await service.key(id, { name: 'used' })]
      const longAgo = service.clock.now() - 91 * DAY_MS
      for (const key of [unused, used]) await update('api_keys', key.id, { created_at: longAgo })
      await update('api_keys', used.id, { last_used_at: service.clock.now() - 89 * DAY_MS })
      const found = await attention(id)
      expect(found.map(({ kind, subject }) => [kind, subject.id])).toEqual([['key.unused', unused.id]])
      await run(found[0]!.fix.command)
      expect(await attention(id)).toEqual([])
    })

    test('a replaced secret that is still used is listed with the address that uses it, until its grace period ends', async () => {
      const { id } = await service.project('Rotated')
      const key = await service.key(id)
      const renewed = await service.manage('POST', `${key.path}/regenerate`, { grace_seconds: 600 })
      await service.issue({ ...key, appToken: renewed.body.app_token }, 'api', {
        'x-forwarded-for': '10.0.0.8',
      })
      await service.advance(3_000)
      expect(await attention(id)).toEqual([])
      await service.issue(key, 'api', { 'x-forwarded-for': '10.0.0.7' })
      await service.advance(3_000)
      await expect.poll(async () => (await entry('secret.old_still_used', id))?.message).toContain('10.0.0.7')
      await service.jump(11 * 60_000)
      expect(await attention(id)).toEqual([])
    })

    test('a jump of refusals is listed for ten minutes', async () => {
      const { id } = await service.project('Refused')
      const key = await service.key(id)
      await service.manage('POST', `${key.path}/block`)
      for (let i = 0; i < 49; i++) await service.issue(key)
      expect(await attention(id)).toEqual([])
      await service.issue(key)
      const found = await entry('refusals.jump', id)
      expect(found!.message).toContain('50 requests were refused')
      await run(found!.fix.command)
      await service.jump(12 * 60_000)
      expect(await attention(id)).toEqual([])
    })

    test('the list of the service has the entries of every project, the worst first', async () => {
      const record = await openRecord(service)
      const webhook = await record.webhook()
      await record.deliveries(webhook, [EXHAUSTED])
      const other = await openRecord(service)
      await update('destinations', await other.webhook(), { active: 0, disabled_reason: 'answered 410 Gone' })
      const kinds = (await attention()).map(({ kind, subject }) => `${kind} ${subject.project_id}`)
      const [error, warning] = [
        `destination.disabled ${other.projectId}`,
        `deliveries.exhausted ${record.projectId}`,
      ]
      expect(kinds).toEqual(expect.arrayContaining([error, warning]))
      expect(kinds.indexOf(error)).toBeLessThan(kinds.indexOf(warning))
    })

    test('one private address behind every call is reported as an untrusted proxy', async () => {
      const own = await startTimedService(engine, {
        env: { ...ENV, JETON_TRUSTED_PROXIES: '127.0.0.1' },
        worker: false,
      })
      const { id } = await own.project('Proxied')
      const key = await own.key(id, { permissions: ['vouchers'] })
      const { body } = await own.issue(key, 'vouchers', { 'x-forwarded-for': '10.0.3.7' })
      const call = (from: string) =>
        fetch(`${own.url}/gateway/authorize`, {
          headers: {
            authorization: `Bearer ${body.access_token}`,
            'x-original-uri': '/v1/vouchers',
            'x-forwarded-for': from,
          },
        })
      const listed = async () =>
        (await own.manage('GET', '/attention')).body.data.find(
          ({ kind }: Entry) => kind === 'proxy.untrusted',
        )
      for (let i = 0; i < 99; i++) expect((await call('10.0.3.7')).status).toBe(200)
      await own.advance(3_000)
      expect(await listed()).toBeUndefined()
      await call('10.0.3.7')
      // The address is stored by a job of the service.
      const listedLater = async () => {
        await own.advance(2_000)
        return listed()
      }
      await expect.poll(listedLater).toMatchObject({ fix: { command: 'JETON_TRUSTED_PROXIES=10.0.3.7' } })
      await call('203.0.113.9')
      await own.advance(63_000)
      await expect.poll(listed).toBeUndefined()
      await own.stop()
    })

    test('a process that has not confirmed the state of keys for 10 s is listed until it does', async () => {
      const own = await startTimedService(engine, { env: ENV, worker: false })
      const listed = async () =>
        (await own.manage('GET', '/attention')).body.data.filter(
          ({ kind }: Entry) => kind === 'process.stale_key_state',
        )
      await own.advance(2_000)
      expect(await listed()).toEqual([])
      const { db } = own.service
      const setAge = (key_state_age_ms: number) =>
        db.transaction(async (tx) =>
          tx
            .write<{ processes: { key_state_age_ms: number; seen_at: number } }>()
            .updateTable('processes')
            .set({ key_state_age_ms, seen_at: await tx.now() })
            .execute(),
        )
      await setAge(11_000)
      expect(await listed()).toMatchObject([
        { subject: { type: 'process' }, fix: { command: 'jeton process list' } },
      ])
      await setAge(500)
      expect(await listed()).toEqual([])
      await own.stop()
    })

    test('the sample project is reported only on a service that other machines reach', async () => {
      const settings = { ...(await engine.settings()), ...ENV }
      for (const [host, expected] of [
        ['127.0.0.1', 0],
        ['0.0.0.0', 1],
      ] as const) {
        const env = { ...settings, JETON_HOST: host }
        const own = await startService(env, { clock: systemClock, worker: false })
        const { manage, project } = clientOf(own.url.replace('0.0.0.0', '127.0.0.1'))
        if (expected === 0) await project(SAMPLE_PROJECT)
        const found = (await manage('GET', '/attention')).body.data as Entry[]
        expect(found.filter(({ kind }) => kind === 'sample.in_production')).toHaveLength(expected)
        await own.stop()
      }
    })

    test('a process without the key of stored secrets is reported until it has the key', async () => {
      const settings = await engine.settings()
      const [old, current] = [ENV.JETON_ENCRYPTION_KEY, Buffer.alloc(32, 8).toString('base64')]
      const withKeys = async (keys: string, use: (own: TestService) => Promise<unknown>) => {
        const env = { ...settings, ...ENV, JETON_ENCRYPTION_KEY: keys }
        const own = await startService(env, { clock: systemClock, worker: false })
        await use(own)
        const { body } = await own.manage('GET', '/attention')
        await own.stop()
        return (body.data as Entry[]).filter(({ kind }) => kind === 'encryption_key.missing').length
      }
      const addWebhook = async (own: TestService) => {
        const { id } = await own.project('Keys')
        const body = { target_url: 'https://hooks.example.com/jeton', events: [KIND] }
        expect((await own.manage('POST', `/projects/${id}/webhooks`, body)).status).toBe(201)
      }
      expect(await withKeys(old, addWebhook)).toBe(0)
      expect(await withKeys(current, async () => undefined)).toBe(1)
      expect(await withKeys(`${current},${old}`, async () => undefined)).toBe(0)
    })
  })
})
