import { closeSync, fsyncSync, openSync, statfsSync, writeSync } from 'node:fs'
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { median } from './measure/load-subject.ts'

export interface Machine {
  readonly cpu: string
  readonly cores: number
  /** How many times the work of one of them all do together. Threads of one core have not twice as much to give. */
  readonly together: number
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

const BUSY_LOOP = `const began = performance.now()
let x = 0
for (let i = 0; i < 3e8; i++) x = (x * 31 + i) | 0
require('node:worker_threads').parentPort.postMessage(performance.now() - began + x * 0)`
const LOOPS = 3

const loopMs = (): Promise<number> =>
  new Promise((resolve, reject) => {
    new Worker(BUSY_LOOP, { eval: true }).once('message', resolve).once('error', reject)
  })

async function workTogether(cores: number): Promise<number> {
  const ratios: number[] = []
  for (let i = 0; i < LOOPS; i++) {
    const alone = await loopMs()
    const all = await Promise.all(Array.from({ length: cores }, loopMs))
    ratios.push((cores * alone) / Math.max(...all))
  }
  return median(ratios)
}

export const describeMachine = async (folder: string): Promise<Machine> => ({
  cpu: cpus()[0]?.model ?? 'unknown',
  cores: availableParallelism(),
  together: await workTogether(availableParallelism()),
  memoryBytes: totalmem(),
  node: process.version,
  fsyncMs: fsyncMs(folder),
  load: loadavg()[0]!,
  inMemoryDisk: statfsSync(folder).type === TMPFS,
})
