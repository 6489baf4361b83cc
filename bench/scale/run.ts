/** Measures the cost of every operation, and compares a large store with a small one. See docs/operate/scale.md. */
import { writeFileSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { describeMachine } from '../machine.ts'
import { ENGINE_LABEL, ENGINES, type Engine } from '../stores.ts'
import { measureBloat } from './bloat.ts'
import { type Costs, measureCosts } from './costs.ts'
import { compareStores, type Flatness, fillStores } from './flatness.ts'
import { ScaleStores } from './store.ts'

const USAGE = `npm run trial:scale -- [part …] [options]

  part              costs, flat, bloat; default: all
  --engine NAME     sqlite or postgres; default: both
  --divide N        divide the large store by N (default 1: 10 million events, 1 million keys, 100,000 destinations)
  --requests PART   part of the requests of a full run (default 1)
  --rounds N        rounds with the small and the large store in turn (default 3)
  --days N          days of the bloat run (default 120)
  --json FILE       write all figures
`
/** Enough rows that autovacuum decides by the share of dead ones. */
const EVENTS_PER_DAY = 5_000
const PARTS = ['costs', 'flat', 'bloat']
const text = { type: 'string' } as const
const print = (line: string): void => void process.stdout.write(`${line}\n`)

const { values, positionals } = parseArgs({
  options: {
    ...{ engine: text, divide: text, requests: text, rounds: text, days: text, json: text },
    help: { type: 'boolean' },
  },
  allowPositionals: true,
})
const parts = PARTS.filter((part) => positionals.length === 0 || positionals.includes(part))
const divide = Number(values.divide ?? 1)
const part = Number(values.requests ?? 1)
const LARGE = {
  projects: Math.max(400, 10_000 / divide),
  keys: 1_000_000 / divide,
  destinations: Math.max(4_000, 100_000 / divide),
  events: 10_000_000 / divide,
}

const startedAt = performance.now()
const log = (line: string) =>
  print(
    `[${String(Math.round((performance.now() - startedAt) / 1000)).padStart(4)} s, load ${loadavg()[0]!.toFixed(1)}] ${line}`,
  )

const cell = (value: number, digits = 0) => value.toFixed(digits).padStart(10)

function printCosts({ rows, idle }: Costs): void {
  print(`\n${'operation'.padEnd(34)} Jeton µs   PostgreSQL µs  written bytes  kept bytes`)
  for (const { operation, jetonMicros, postgresMicros, writtenBytes, keptBytes } of rows)
    print(
      `${operation.padEnd(32)}${[jetonMicros, postgresMicros, writtenBytes, keptBytes].map((v) => cell(v).padStart(14)).join('')}`,
    )
  print(`idle per second: Jeton ${cell(idle.jetonMicros)} µs, PostgreSQL ${cell(idle.postgresMicros)} µs`)
}

function printFlatness({ compared, lists, tables }: Flatness): void {
  print(`\n${''.padEnd(34)}     small      large      ratio`)
  for (const { name, unit, small, large, ratio } of compared)
    print(`${`${name} (${unit})`.padEnd(38)}${cell(small)}${cell(large)}${cell(ratio, 2)}`)
  print(`\n${'list, median and p95 in ms'.padEnd(90)} small                 large`)
  for (const [i, { path, medianMs, p95Ms }] of lists.large.entries()) {
    const other = lists.small[i]!
    print(
      `${path.padEnd(90)}${cell(other.medianMs, 1)}${cell(other.p95Ms, 1)}${cell(medianMs, 1)}${cell(p95Ms, 1)}${p95Ms > 50 ? '  over 50 ms' : ''}`,
    )
  }
  for (const table of tables) print(JSON.stringify(table))
}

async function runOn(engine: Engine): Promise<object> {
  log(`${ENGINE_LABEL[engine]}: ${JSON.stringify(LARGE)}`)
  const stores = new ScaleStores(engine)
  try {
    await stores.open()
    const options = { large: LARGE, rounds: Number(values.rounds ?? 3), part, log }
    const filled = parts.includes('flat') ? await fillStores(stores, options) : []
    await stores.measure()
    const flat = filled.length > 0 ? await compareStores(filled, options) : undefined
    if (flat) printFlatness(flat)
    const costs = parts.includes('costs') ? await measureCosts(await stores.create('costs'), part) : undefined
    if (costs) printCosts(costs)
    const days = Number(values.days ?? 120)
    const bloat =
      parts.includes('bloat') && engine === 'postgres'
        ? await measureBloat(stores, { eventsPerDay: EVENTS_PER_DAY, days, log })
        : undefined
    return { flat, costs, bloat }
  } finally {
    await stores.remove()
  }
}

if (values.help) print(USAGE)
else {
  const machine = describeMachine(tmpdir())
  print(
    `${machine.cpu}, ${machine.cores} cores, ${machine.memoryGb} GB, Node ${machine.node}, load ${machine.load.toFixed(1)}`,
  )
  const engines = ENGINES.filter((engine) => values.engine === undefined || values.engine === engine)
  const results: Record<string, object> = {}
  for (const engine of engines) results[engine] = await runOn(engine)
  const file = values.json ?? join(tmpdir(), 'jeton-scale.json')
  writeFileSync(
    file,
    `${JSON.stringify({ at: new Date().toISOString(), machine, large: LARGE, ...results }, null, 2)}\n`,
  )
  log(`all figures are in ${file}`)
}
// Through 'exit', so that child processes and files are removed.
process.exit()
