import { closeSync, fsyncSync, openSync, statfsSync, writeSync } from 'node:fs'
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os'
import { join } from 'node:path'
import { median } from './measure/load-subject.ts'

export interface Machine {
  readonly cpu: string
  readonly cores: number
  readonly memoryBytes: number
  readonly node: string
  readonly fsyncMs: number
  /** Over the minute before the run: what others were doing. */
  readonly load: number
  /** Where the stores are there is no disk: "durable" means nothing. */
  readonly inMemoryDisk: boolean
}

const TMPFS = 0x01021994
const FSYNCS = 50

/** How long this disk takes to make one small write durable: what every commit waits for. */
function fsyncMs(folder: string): number {
  const file = openSync(join(folder, 'fsync'), 'w')
  const times = Array.from({ length: FSYNCS }, () => {
    const began = performance.now()
    writeSync(file, Buffer.alloc(4096))
    fsyncSync(file)
    return performance.now() - began
  })
  closeSync(file)
  return median(times)
}

export const describeMachine = (folder: string): Machine => ({
  cpu: cpus()[0]?.model ?? 'unknown',
  cores: availableParallelism(),
  memoryBytes: totalmem(),
  node: process.version,
  fsyncMs: fsyncMs(folder),
  load: loadavg()[0]!,
  inMemoryDisk: statfsSync(folder).type === TMPFS,
})
