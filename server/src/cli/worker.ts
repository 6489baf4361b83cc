import { VERSION } from '../app/version.ts'
import { startWorker } from '../app/worker.ts'
import { systemClock } from '../platform/clock.ts'
import { readConfig } from '../platform/config/index.ts'
import { createLog } from '../platform/log.ts'
import { stopOnSignal } from './stop-on-signal.ts'

/** Delivers events until it is stopped. */
export async function work(): Promise<void> {
  const config = readConfig(process.env)
  const log = createLog({ level: config.JETON_LOG_LEVEL, readable: process.stdout.isTTY === true })
  const worker = await startWorker({ config, clock: systemClock, log })
  stopOnSignal(worker, log)
  log.info({ version: VERSION, store: worker.db.label, probes: worker.url }, 'sending events')
}
