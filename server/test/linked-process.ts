/**
 * An HTTP process without a service, for tests of the supervisor with real processes. Its orders and reports use the same
 * channel as the messages of the supervisor.
 */
import { systemClock } from '../src/platform/clock.ts'
import { connectToSupervisor } from '../src/platform/http-processes/index.ts'
import { createMetrics } from '../src/platform/metrics.ts'

export type Order =
  | { order: 'wake'; topic: string }
  | { order: 'count'; amount: number }
  | { order: 'total' }
  | { order: 'end'; code: number }
export type Said = { said: 'heard'; topic: string } | { said: 'total'; text: string | undefined }

const say = (message: Said) => process.send!(message)

const link = connectToSupervisor(systemClock)!
const metrics = createMetrics({
  done_total: { type: 'counter', help: 'Work done.' },
  held: { type: 'gauge', help: 'Work held.' },
})
const counter = metrics.counter('done_total')({ kind: 'a' })
metrics.read('held', () => 1)
link.reportMetrics(metrics.families)
link.notifications.onReceived((topic) => say({ said: 'heard', topic }))

process.on('message', async (message: Order) => {
  switch (message.order) {
    case 'wake':
      link.notifications.send(message.topic)
      return
    case 'count':
      counter.add(message.amount)
      return
    case 'total':
      say({ said: 'total', text: await link.totalText() })
      return
    case 'end':
      process.exit(message.code)
  }
})
if (process.env.TEST_FAILS) process.exit(Number(process.env.TEST_FAILS))
if (!process.env.TEST_STUBBORN) link.onStop(() => process.exit(0))
link.ready({ url: 'http://127.0.0.1:4711', managementUrl: 'http://127.0.0.1:4712' })
