import { closeSync, fsyncSync, openSync, statfsSync, writeSync } from 'node:fs'
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os'
import { join } from 'node:path'
import { median } from './compare.ts'

export interface Machine {
  readonly cpu: string
  readonly cores: number
  readonly memoryGb: number
  readonly node: string
  /** Duration of a small write with fsync, on which every commit waits. */
  readonly fsyncMs: number
  /** Load average of the last minute before the run. */
  readonly load: number
  /** The temporary folder is not on a disk, so that no commit is durable. */
  readonly isMemoryDisk: boolean
}

const TMPFS = 0x01021994
const FSYNCS = 50

function measureFsync(folder: string): number {
  const file = openSync(join(folder, 'fsync'), 'w')
  const times = Array.from({ length: FSYNCS }, () => {
    const startedAt = performance.now()
    writeSync(file, Buffer.alloc(4096))
    fsyncSync(file)
    return performance.now() - startedAt
  })
  closeSync(file)
  return median(times)
}

export const describeMachine = (folder: string): Machine => ({
  cpu: cpus()[0]?.model ?? 'unknown processor',
  cores: availableParallelism(),
  memoryGb: Math.round(totalmem() / 1e9),
  node: process.version,
  fsyncMs: measureFsync(folder),
  load: loadavg()[0]!,
  isMemoryDisk: statfsSync(folder).type === TMPFS,
})
