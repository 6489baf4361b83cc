import { readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type BareRoute, withBareRoute } from './bare-route.ts'
import type { Bench, Row } from './compare.ts'
import { describeMachine, type Machine } from './machine.ts'
import { type Options, readOptions, type Scenario, USAGE, UsageError } from './options.ts'
import { publish } from './publish.ts'
import { type Report, reasonNotToPublish, resultTable, rowLine } from './report.ts'
import { measureDeliver } from './scenarios/deliver.ts'
import { measureGrowth } from './scenarios/growth.ts'
import { measureMemory } from './scenarios/memory.ts'
import { measureMixed } from './scenarios/mixed.ts'
import { measureRedeem } from './scenarios/redeem.ts'
import { measureRequests, projectsFor } from './scenarios/requests-per-second.ts'
import { ENGINES, type Engine, Stores } from './stores.ts'
import { jetonOn, type Kind, subjectsOf } from './subjects.ts'

const KINDS: readonly Kind[] = ['issue', 'introspect', 'gateway']
/** Load average of a quiet machine. */
const QUIET = 0.5

const print = (text: string): void => void process.stdout.write(`${text}\n`)

type Measure = (engine: Engine) => Promise<Row | Row[]>

class Run {
  readonly rows: Row[] = []
  readonly #bench: Bench
  readonly #options: Options

  constructor(bench: Bench, options: Options) {
    this.#bench = bench
    this.#options = options
  }

  #add(...rows: readonly Row[]): void {
    this.rows.push(...rows)
    for (const row of rows) this.#bench.log(rowLine(row))
  }

  async #onEngines(scenario: Scenario, measure: Measure): Promise<void> {
    if (!this.#options.scenarios.includes(scenario)) return
    for (const engine of ENGINES)
      try {
        this.#add(...[await measure(engine)].flat())
      } catch (error) {
        const subject = jetonOn(engine).label
        this.#add({ scenario, subject, noResult: (error as Error).message })
      }
  }

  async #againstBare(bare: BareRoute): Promise<void> {
    const { scenarios, subjects = '' } = this.#options
    const kinds = KINDS.filter((kind) => scenarios.includes(kind))
    for (const description of subjectsOf(this.#options))
      if (description.label.toLowerCase().includes(subjects.toLowerCase()))
        this.#add(...(await measureRequests(this.#bench, { bare, description }, kinds)))
    await this.#onEngines('redeem', (engine) => measureRedeem(this.#bench, bare, engine))
  }

  async measure(): Promise<void> {
    const bench = this.#bench
    if ([...KINDS, 'redeem'].some((name) => this.#options.scenarios.includes(name as Scenario)))
      await withBareRoute(bench, projectsFor(bench), (bare) => this.#againstBare(bare))
    await this.#onEngines('deliver', (engine) => measureDeliver(bench, engine))
    await this.#onEngines('mixed', (engine) => measureMixed(bench, engine))
    await this.#onEngines('memory', (engine) => measureMemory(bench, engine))
    await this.#onEngines('growth', (engine) => measureGrowth(bench, engine))
  }
}

function introduce({ cpu, cores, memoryGb, node, fsyncMs, load, isMemoryDisk }: Machine): void {
  print(`${cpu}, ${cores} cores, ${memoryGb} GB, Node ${node}, fsync ${fsyncMs.toFixed(2)} ms`)
  if (isMemoryDisk) print('The temporary folder is in memory, so nothing is durable: set TMPDIR to a disk.')
  if (load > QUIET) print(`The machine is busy (load ${load.toFixed(1)}): the figures will be noise.`)
}

async function measure(options: Options): Promise<Report> {
  const stores = new Stores()
  const startedAt = performance.now()
  const elapsed = () => (performance.now() - startedAt) / 1000
  const { seconds, rounds, quick } = options
  const log = (line: string) => print(`[${String(Math.round(elapsed())).padStart(4)} s] ${line}`)
  try {
    const machine = describeMachine(stores.folder)
    introduce(machine)
    const run = new Run({ stores, seconds, rounds, quick, log }, options)
    await run.measure()
    const at = new Date().toISOString()
    const made = { at, machine, seconds, rounds, quick, durationSeconds: elapsed() }
    return { ...made, rows: run.rows }
  } finally {
    await stores.remove()
  }
}

async function tryToPublish(report: Report, file: string, force: boolean): Promise<void> {
  const reason = reasonNotToPublish(report)
  if (reason === undefined || force) return publish(report)
  print(`Not published: ${reason}.`)
  print(`To publish these figures with that remark: npm run bench -- --from ${file} --publish --force`)
  process.exitCode = 1
}

async function main(options: Options): Promise<void> {
  if (options.help) return print(USAGE)
  const report: Report = options.from
    ? JSON.parse(readFileSync(options.from, 'utf8'))
    : await measure(options)
  print(`\n${resultTable(report)}`)
  const file = options.json ?? options.from ?? join(tmpdir(), 'jeton-bench.json')
  if (!options.from) writeFileSync(file, `${JSON.stringify(report, null, 2)}\n`)
  print(`\nAll figures are in ${file}. The run took ${Math.round(report.durationSeconds)} s.`)
  if (report.rows.some(({ noResult }) => noResult !== undefined)) process.exitCode = 1
  if (options.publish) await tryToPublish(report, file, options.force)
}

// Through 'exit', so that child processes and files are removed.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))
try {
  await main(readOptions(process.argv.slice(2)))
} catch (error) {
  if (!(error instanceof UsageError)) throw error
  process.stderr.write(`${error.message}\n\n${USAGE}`)
  process.exitCode = 2
}
// A subject that failed while it started may still run and keep this process alive.
process.exit()
