import { afterEach, describe, expect, onTestFinished, test } from 'vitest'
import type { DeliveryTables } from '../../src/features/deliveries/delivery.ts'
import { makeHome, type Running, runBinary, serveBinary } from '../binary.ts'
import { postConcurrently } from '../concurrent-redemptions.ts'
import { eachEngine } from '../engines.ts'
import { type Receiver, startReceiver } from '../receiver.ts'
import { redemptionData } from '../reported-redemption.ts'
import { clientOf, OPERATOR, type Pair } from '../service.ts'
import { report as reportRow } from './report.ts'
import { rounds, TEST_TIMEOUT_MS } from './run-settings.ts'

/** More than the kills of the short form interrupt. */
const EVENTS = 800
const BATCH_SIZE = 50
/** Number of kills in the short form. */
const KILLS = 4
/** Most sends in flight from one process to one destination. Only these may be repeated after a kill. */
const MAX_IN_FLIGHT = 64
const ENV = {
  JETON_MANAGEMENT_ID: OPERATOR.id,
  JETON_MANAGEMENT_TOKEN: OPERATOR.token,
  JETON_ENCRYPTION_KEY: Buffer.alloc(32, 9).toString('base64'),
  JETON_WEBHOOK_ALLOW: '127.0.0.0/8',
  JETON_SAMPLE: 'off',
  JETON_LOG_LEVEL: 'info',
}

eachEngine((engine) => {
  const running = new Set<Running>()
  let receiver: Receiver

  afterEach(async () => {
    for (const one of running) one.child.kill('SIGKILL')
    await Promise.all([...running].map(({ ended }) => ended))
    await receiver.close()
  })

  const layouts = [
    { name: 'one service', service: ['serve'], workers: 0 },
    ...(engine.name === 'PostgreSQL'
      ? [{ name: 'one service and two workers', service: ['serve', '--no-worker'], workers: 2 }]
      : []),
  ]

  describe.each(layouts)('with $name', ({ service, workers }) => {
    test(
      'processes that are killed repeatedly lose no event, and repeat only sends that were in flight',
      async () => {
        const { folder: home, remove } = makeHome()
        onTestFinished(remove)
        const store = await engine.freshStore()
        receiver = await startReceiver()
        const env = { ...store.env, ...ENV }
        let url = ''

        async function startService(): Promise<Running> {
          const started = await serveBinary({ home, env, args: service })
          running.add(started)
          url = started.url
          return started
        }
        async function startWorker(): Promise<Running> {
          const started = runBinary({ home, env, args: ['worker'] })
          running.add(started)
          await started.printed(/sending events/)
          return started
        }

        const members = [{ start: startService, now: await startService() }]
        const client = clientOf(url)
        const project = await client.project('Club')
        const pair: Pair = await client.key(project.id)
        const target = { target_url: receiver.url, events: ['customer.reward_redemptions.completed'] }
        await client.manage('POST', `/projects/${project.id}/webhooks`, target)
        for (let i = 0; i < workers; i++) members.push({ start: startWorker, now: await startWorker() })

        let kills = 0
        const acknowledged = new Set<string>()
        /** Retries until every report is acknowledged. Reports with the same id create one event. */
        async function reportAll(): Promise<void> {
          let left = Array.from({ length: EVENTS }, (_, i) => `r-${i}`)
          while (left.length > 0) {
            const now = left.slice(0, BATCH_SIZE)
            const sent = now.map((source_id) => ({
              url,
              path: '/redemptions/rewards',
              body: { source_id, data: redemptionData() },
            }))
            const answers = await postConcurrently(pair, sent)
            for (const { status, body } of answers) if (status === 200) acknowledged.add(body.event_id)
            left = [...left.slice(BATCH_SIZE), ...now.filter((_, i) => answers[i]!.status !== 200)]
          }
        }
        const progress = () => acknowledged.size + receiver.received.length
        async function killing(): Promise<void> {
          for (const kill of rounds(KILLS)) {
            kills++
            // After a different amount of work each time, so that the kills interrupt every part of it.
            const next = Math.min(progress() + 20 + ((kill * 37) % 150), 2 * EVENTS)
            while (progress() < next) await new Promise((resolve) => setTimeout(resolve, 1 + (kill % 5)))
            const member = members[kill % members.length]!
            await member.now.stop('SIGKILL')
            running.delete(member.now)
            member.now = await member.start()
          }
        }
        await Promise.all([reportAll(), killing()])

        expect(acknowledged.size).toBe(EVENTS)
        const db = await store.open()
        const undelivered = () =>
          db
            .read<DeliveryTables>()
            .selectFrom('deliveries')
            .select('id')
            .where('status', '<>', 'delivered')
            .limit(1)
            .execute()
        const arrived = () => new Set(receiver.received.map(({ payload }) => payload.event.id))
        // Deliveries that a killed process had claimed fall due when their lease ends.
        while (arrived().size < EVENTS || (await undelivered()).length > 0)
          await new Promise((resolve) => setTimeout(resolve, 200))
        expect(arrived()).toEqual(acknowledged)

        const byId = Map.groupBy(receiver.received, ({ headers }) => headers['webhook-id'])
        expect(byId.size).toBe(EVENTS)
        for (const same of byId.values()) expect(new Set(same.map(({ body }) => body)).size).toBe(1)
        const twice = receiver.received.length - EVENTS
        expect(twice).toBeLessThanOrEqual(kills * MAX_IN_FLIGHT)
        reportRow('fault', {
          fault: workers > 0 ? 'service or worker killed while sending' : 'service killed while sending',
          engine: engine.name,
          times: kills,
          events: EVENTS,
          lost: EVENTS - arrived().size,
        })
      },
      TEST_TIMEOUT_MS,
    )
  })
})
