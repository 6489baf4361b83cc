import { Writable } from 'node:stream'
import { createLog, type Log } from '../src/platform/log.ts'

/** A log whose output a test reads. */
export function capturedLog(options: { level: string; readable?: boolean }): {
  log: Log
  text(): string
  clear(): void
} {
  const chunks: string[] = []
  const out = new Writable({
    write(chunk, _, done) {
      chunks.push(String(chunk))
      done()
    },
  })
  const log = createLog({ readable: false, ...options, out })
  return { log, text: () => chunks.join(''), clear: () => void chunks.splice(0) }
}
