import { expect, test } from 'vitest'
import { systemClock } from '../../src/platform/clock.ts'
import { eachEngine } from '../engines.ts'
import { apiOf, ok } from '../loyalty.ts'
import { type Receiver, startReceiver } from '../receiver.ts'
import { redemptionData } from '../reported-redemption.ts'
import { startService } from '../service.ts'

const ENV = {
  JETON_ENCRYPTION_KEY: Buffer.alloc(32, 9).toString('base64'),
  JETON_WEBHOOK_ALLOW: '127.0.0.0/8',
}
const EVENTS = 120
/** Added by the scheduler of a busy machine to a delay of a few milliseconds. A slow destination would add more. */
const NOISE_MS = 50
/** A destination that others slow down fails every try. A machine that is busy for a second does not. */
const TRIES = 8

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!

eachEngine((engine) => {
  test('a destination that hangs and one that fails do not slow a healthy one', async () => {
    const service = await startService({ ...(await engine.settings()), ...ENV }, { clock: systemClock })
    const receivers: Receiver[] = await Promise.all([startReceiver(), startReceiver(), startReceiver()])
    const [healthy, hanging, failing] = receivers as [Receiver, Receiver, Receiver]
    hanging.answer = () => null
    failing.answer = () => ({ status: 500 })
    try {
      const project = await service.project('Fair')
      const call = apiOf(service.url, await service.key(project.id))
      const subscribe = ({ url }: Receiver) =>
        service.manage('POST', `/projects/${project.id}/webhooks`, {
          target_url: url,
          events: ['customer.reward_redemptions.completed'],
        })
      let reports = 0

      /** The median delay from the report's answer to the arrival at the healthy one. */
      async function run(): Promise<number> {
        const before = healthy.received.length
        const reported = new Map<string, number>()
        for (let i = 0; i < EVENTS; i++) {
          const body = { source_id: `r-${++reports}`, data: redemptionData() }
          const { event_id } = await ok(call('POST', '/redemptions/rewards', body))
          reported.set(event_id, performance.now())
        }
        const arrived = (await healthy.receivedAtLeast(before + EVENTS)).slice(before)
        return median(arrived.map(({ at, payload }) => Math.max(0, at - reported.get(payload.event.id)!)))
      }

      await subscribe(healthy)
      const undisturbed = await run()
      await subscribe(hanging)
      await subscribe(failing)
      const isFair = async () => (await run()) <= 2 * undisturbed + NOISE_MS
      let fair = false
      for (let i = 0; i < TRIES && !fair; i++) fair = await isFair()
      expect(fair).toBe(true)
      // Else nobody was in the way. The hanging one still holds the first that it got.
      expect(hanging.received.length).toBeGreaterThan(0)
      expect(failing.received.length).toBeGreaterThan(0)
    } finally {
      for (const receiver of receivers) await receiver.close()
      await service.stop()
    }
  })
})
