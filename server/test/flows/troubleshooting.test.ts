import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { jeton } from '../command-line.ts'
import { type DeliveryRecord, openRecord } from '../delivery-record.ts'
import { eachEngine } from '../engines.ts'
import { type Receiver, startReceiver } from '../receiver.ts'
import { OPERATOR, send } from '../service.ts'
import { startTimedService, type TimedService } from '../timed-service.ts'

const ENV = {
  JETON_ENCRYPTION_KEY: Buffer.alloc(32, 9).toString('base64'),
  JETON_WEBHOOK_ALLOW: '127.0.0.0/8',
  JETON_TRUSTED_PROXIES: '127.0.0.0/8',
}

eachEngine((engine) => {
  let service: TimedService
  let receiver: Receiver
  let record: DeliveryRecord
  beforeAll(async () => {
    service = await startTimedService(engine, { env: ENV })
    receiver = await startReceiver()
    record = await openRecord(service)
  })
  afterAll(async () => {
    await service.stop()
    await receiver.close()
  })

  /** The output of one command for a person; it must succeed. */
  async function type(line: string): Promise<string> {
    const { code, out, err } = await jeton(line.split(' '), {
      env: {
        JETON_URL: service.url,
        JETON_MANAGEMENT_ID: OPERATOR.id,
        JETON_MANAGEMENT_TOKEN: OPERATOR.token,
        JETON_PROJECT: record.projectId,
        XDG_CONFIG_HOME: '/nowhere',
        NO_COLOR: '1',
      },
      isTTY: true,
      now: service.clock.now(),
    })
    expect([code, err], line).toEqual([0, expect.any(String)])
    return out
  }

  describe('an operator finds in at most two commands', () => {
    test('which deliveries fail and why, and sends a hundred of them again with one command after a dry run', async () => {
      const now = service.clock.now()
      const to = await record.webhook({ target_url: receiver.url })
      const failed = { attempts_made: 1, first_attempt_at: now, next_attempt_at: now + 3_600_000 }
      const rows = await record.deliveries(
        to,
        Array.from({ length: 100 }, () => ({ ...failed, last_status: 503, last_error: 'answered 503' })),
      )
      await record.attempts(rows, { status: 503, error: 'answered 503', response_body: 'out of order' })
      const [other] = await record.deliveries(to, [{ ...failed, last_error: 'connection refused' }])
      await record.attempts([other!], { status: null, error: 'connection refused', response_body: null })

      const list = await type('delivery list --failing --limit 100')
      expect(list).toMatch(/LAST STATUS +LAST ERROR\n/)
      expect(list.match(/ 503 +answered 503\n/g)!.length).toBeGreaterThan(98)
      const one = await type(`delivery show ${rows[0]!.id}`)
      expect(one).toMatch(/ 503 +out of order +answered 503\n/)

      const recover = 'delivery recover --http-status 503 --include failing'
      const dry = await type(`${recover} --dry-run`)
      expect(dry).toMatch(/^dry_run +true\nreopened +100$/m)
      expect(dry.match(/whs_\w+/g)).toHaveLength(10)
      expect([receiver.received.length, await record.row(rows[0]!.id)]).toEqual([0, rows[0]])

      expect(await type(recover)).toMatch(/^dry_run +false\nreopened +100$/m)
      await expect
        .poll(
          async () => {
            await service.advance(100)
            return receiver.received.length
          },
          { timeout: 60_000 },
        )
        .toBe(100)
      const sent = new Set(receiver.received.map(({ headers }) => headers['webhook-id']))
      expect(sent).toEqual(new Set(rows.map(({ id }) => id)))
      expect(await record.row(other!.id)).toEqual(other)
    }, 120_000)

    test('who used a key and from where', async () => {
      const key = await service.key(record.projectId, { name: 'pos' })
      await service.issue(key, 'vouchers', { 'x-forwarded-for': '10.0.4.21' })
      await service.advance(3_000)
      await expect.poll(() => type('key show pos')).toMatch(/^last_used_from +10\.0\.4\.21$/m)
      expect(await type('key show pos')).toMatch(/ADDRESS +LAST USED\n10\.0\.4\.21 /)
      expect(await type('key list')).toMatch(/pos .* 10\.0\.4\.21\n/)
    })

    test('why a call was refused', async () => {
      const key = await service.key(record.projectId, { name: 'shop' })
      const { body } = await service.issue(key, 'rewards')
      const refused = await send(`${service.url}/v1/campaigns`, {
        headers: { authorization: `Bearer ${body.access_token}` },
      })
      expect(refused.status).toBe(403)
      const list = await type('refusal list')
      expect(list).toContain(refused.body.request_id)
      const why = await type(`explain ${refused.body.request_id}`)
      expect(why).toMatch(/answered 403 insufficient_scope/)
      expect(why).toMatch(/✗ the scope of the token/)
      expect(why).toContain('→ ')
      const token = await type(`token check --access-token ${body.access_token}`)
      expect(token).toMatch(/^active +true$/m)
    })
  })
})
