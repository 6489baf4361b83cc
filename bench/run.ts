import { writeFileSync } from 'node:fs'
import { estimateSeconds } from './estimate.ts'
import { findGenerator } from './load/load.ts'
import { describeMachine, type Machine } from './machine.ts'
import { measureDeliveries, measureIdleDelay, measureInterference } from './measure/deliveries.ts'
import { measureGrowth } from './measure/growth.ts'
import { measureLimits } from './measure/limits.ts'
import { measureLists } from './measure/lists.ts'
import type { Bench } from './measure/load-subject.ts'
import { measureMemory } from './measure/memory.ts'
import { measureMixed } from './measure/mixed.ts'
import { measureRedemptions } from './measure/redemptions.ts'
import { measureStoreCost } from './measure/store-cost.ts'
import { isAtGateway, measureThroughput } from './measure/throughput.ts'
import { measureTurnover } from './measure/turnover.ts'
import { measureWorkers } from './measure/workers.ts'
import { type Options, type Part, readOptions, USAGE, WrongUsage } from './options.ts'
import { writePage } from './page.ts'
import { reportOf } from './report.ts'
import type { Results } from './results.ts'
import { shownMb, shownMs, shownSeconds } from './shown.ts'
import { type Engine, Stores } from './stores.ts'
import { targetsOf } from './targets.ts'

/** Faster than any subject issues: so many tokens a second must find room, 1000 a project. */
const ISSUED_PER_SECOND_MOST = 30_000
const CLIENTS_LEAST = 400
const TOKENS_PER_PROJECT = 1_000
/** A quiet machine is below this. */
const BUSY = 0.5

const print = (text: string): void => void process.stdout.write(`${text}\n`)

function createBench(options: Options, stores: Stores): Bench {
  const { seconds, warmUpSeconds, rounds, quick } = options
  const began = performance.now()
  const needed = Math.ceil(((seconds + warmUpSeconds) * ISSUED_PER_SECOND_MOST) / TOKENS_PER_PROJECT)
  return {
    ...{ stores, seconds, warmUpSeconds, rounds, quick },
    generator: findGenerator(),
    clients: Math.max(CLIENTS_LEAST, needed),
    say: (line) => print(`[${shownSeconds((performance.now() - began) / 1000).padStart(11)}] ${line}`),
  }
}

const ENGINES = ['sqlite', 'postgres'] as const

type Measure<Row> = (bench: Bench, engine: Engine) => Promise<Row[]>

/** What fails on one engine is told at the end, and the rest is measured all the same. */
async function onBoth<Row>(part: Part, measure: Measure<Row>, { bench, results }: Running): Promise<Row[]> {
  const rows: Row[] = []
  for (const engine of ENGINES)
    try {
      rows.push(...(await measure(bench, engine)))
    } catch (error) {
      results.failures.push(`${part} on ${engine}: ${(error as Error).message}`)
    }
  return rows
}

interface Running {
  readonly bench: Bench
  readonly results: Results
}

async function measureAll(bench: Bench, { parts, subjects }: Options): Promise<Results> {
  const results: Results = { failures: [] }
  const running = { bench, results }
  const kinds = (['introspect', 'issue'] as const).filter((kind) => parts.includes(kind))
  if (kinds.length > 0) results.throughput = await measureThroughput(bench, subjects, kinds)
  if (parts.includes('gateway'))
    results.gateway = await measureThroughput(bench, subjects.filter(isAtGateway), ['gateway'])
  if (parts.includes('redemptions'))
    results.redemptions = await onBoth('redemptions', measureRedemptions, running)
  if (parts.includes('mixed')) results.mixed = await onBoth('mixed', measureMixed, running)
  if (parts.includes('growth')) results.growth = await onBoth('growth', measureGrowth, running)
  if (parts.includes('turnover')) results.turnover = await onBoth('turnover', measureTurnover, running)
  if (parts.includes('limits')) results.limits = await onBoth('limits', measureLimits, running)
  if (parts.includes('lists')) results.lists = await onBoth('lists', measureLists, running)
  if (parts.includes('memory')) results.memory = await onBoth('memory', measureMemory, running)
  if (parts.includes('workers')) results.workers = await onBoth('workers', measureWorkers, running)
  if (parts.includes('deliveries')) {
    results.deliveries = await onBoth('deliveries', measureDeliveries, running)
    results.idle = await onBoth('deliveries', measureIdleDelay, running)
    results.interference = await onBoth('deliveries', measureInterference, running)
  }
  if (parts.includes('store'))
    results.storeCost = await measureStoreCost(bench).catch((error: Error) => {
      results.failures.push(`store: ${error.message}`)
      return []
    })
  return results
}

function introduce(machine: Machine, bench: Bench, options: Options): void {
  print(`${machine.cpu}, ${machine.cores} cores, ${shownMb(machine.memoryBytes)}, Node ${machine.node}`)
  print(`All processors together do ${machine.together.toFixed(1)} × the work of one.`)
  print(`Load from ${bench.generator.name}; one small durable write takes ${shownMs(machine.fsyncMs)} here.`)
  if (machine.inMemoryDisk)
    print('The folder for temporary files is in memory, so nothing is durable: set TMPDIR to one on a disk.')
  if (machine.load > BUSY)
    print(
      `The machine is busy with other things (load ${machine.load.toFixed(1)}): the figures will be noise.`,
    )
  print(`About ${shownSeconds(estimateSeconds(options))} in all.\n`)
}

async function run(options: Options): Promise<void> {
  const stores = new Stores()
  try {
    const bench = createBench(options, stores)
    const machine = await describeMachine(stores.folder)
    introduce(machine, bench, options)
    const results = await measureAll(bench, options)
    const targets = targetsOf(results)
    const { text, complete } = reportOf(results, targets)
    print(`\n${text}`)
    const generator = bench.generator.name
    const all = { at: new Date().toISOString(), machine, generator, options, targets, ...results }
    if (options.page) writePage({ machine, generator, results, text })
    if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(all, null, 2)}\n`)
    if (!complete) process.exitCode = 1
  } finally {
    await stores.remove()
  }
}

// Through 'exit', so that what was made is removed.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))
try {
  await run(readOptions(process.argv.slice(2)))
} catch (error) {
  if (!(error instanceof WrongUsage)) throw error
  process.stderr.write(`${error.message}\n\n${USAGE}`)
  process.exitCode = 2
}
