/**
 * Runs a service in a process of its own, whose clock moves only on messages of the parent. The product itself has no
 * clock setting.
 */

import { startService } from './service.ts'
import { TestClock } from './test-clock.ts'

export type ToProcess =
  | { kind: 'advance'; ms: number }
  | { kind: 'set'; now: number }
  | { kind: 'poll-changes' }
  | { kind: 'stop' }
export type FromProcess =
  | { kind: 'ready'; url: string }
  | { kind: 'done' }
  | { kind: 'failed'; message: string }

/** The end of a long span, in which background jobs run as usual. Before it they run once, instead of thousands of times. */
const REPLAYED_MS = 5_000

async function advance(ms: number): Promise<void> {
  if (ms > 60_000) await clock.skip(ms - REPLAYED_MS)
  await clock.advance(ms > 60_000 ? REPLAYED_MS : ms)
}

const reply = (message: FromProcess) => process.send!(message)

const clock = new TestClock(Number(process.env.TEST_NOW ?? Date.UTC(2026, 0, 15, 12)))
const env = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => name.startsWith('JETON_')),
) as Record<string, string>
const service = await startService(env, { clock })

process.on('message', async (message: ToProcess) => {
  try {
    if (message.kind === 'advance') await advance(message.ms)
    if (message.kind === 'set') clock.setNow(message.now)
    if (message.kind === 'poll-changes') await service.service.changeFeed.pollChanges()
    if (message.kind === 'stop') await service.stop()
    reply({ kind: 'done' })
    if (message.kind === 'stop') process.exit(0)
  } catch (error) {
    reply({ kind: 'failed', message: (error as Error).message })
  }
})
// Ends with its parent.
process.on('disconnect', () => process.exit(0))
reply({ kind: 'ready', url: service.url })
