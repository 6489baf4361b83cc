import type { Command } from 'commander'
import { openSession, type Session } from './call-api.ts'
import { addConnectionOptions, type ConnectionOptions } from './connection.ts'
import { EXIT, ExitWith } from './exit.ts'
import { ago, exampleText, plain, wrapped } from './format.ts'
import { coloured, type Io, printLine } from './io.ts'

interface Entry {
  readonly kind: string
  readonly severity: 'error' | 'warning' | 'info'
  readonly message: string
  readonly since: string | null
  readonly fix: { readonly command: string }
}

interface Process {
  readonly role: string
  readonly version: string
}

/** Lines for problems. The rest of the 24 lines is for the service, the charts and the prompt. */
const ENTRY_LINES = 10
const SCREEN_WIDTH = 80
const CHARTS = [
  ['tokens_issued', 'tokens issued'],
  ['introspections', 'introspections'],
  ['calls', 'calls allowed'],
  ['refusals', 'refused'],
  ['redemptions', 'redemptions'],
  ['deliveries', 'delivery attempts'],
  ['failed_deliveries', 'failed attempts'],
] as const
const BARS = '▁▂▃▄▅▆▇█'
const MARKS = { error: '✗', warning: '!', info: 'i' } as const
const COLOURS = { error: 'red', warning: 'yellow', info: 'dim' } as const
const WIDTH = 76

/** Draws counts as bars, the highest as a full one. Nothing at all is drawn as dots. */
export function sparkline(counts: readonly number[]): string {
  const highest = Math.max(...counts)
  if (highest <= 0) return '·'.repeat(counts.length)
  return counts
    .map((count) => (count === 0 ? '·' : BARS[Math.ceil((count / highest) * BARS.length) - 1]!))
    .join('')
}

/** Bars need a terminal that shows more than ASCII. */
export function canDraw({ isTTY, env }: Pick<Io, 'isTTY' | 'env'>): boolean {
  const locale = env.LC_ALL || env.LC_CTYPE || env.LANG
  return isTTY && env.TERM !== 'dumb' && (!locale || /utf-?8/i.test(locale))
}

/** Start of the first of 60 minutes, the last of which has begun. */
const lastHour = (now: number): number => now - (now % 60_000) - 59 * 60_000

/** Adds up neighbours, so that an hour of minutes fits beside a label. */
export const pairs = (counts: readonly number[]): number[] =>
  counts.flatMap((count, i) => (i % 2 === 0 ? [count + (counts[i + 1] ?? 0)] : []))

/** Shows on one screen whether the service needs attention. Exit code 1 if it does. */
export async function showStatus(io: Io, options: ConnectionOptions & { json?: boolean }): Promise<void> {
  const session = openSession(io, options)
  const get = async <T>(path: string) =>
    (await session.call({ method: 'GET', path: `/management/v1/${path}` })).json as T
  const [attention, processes, store, queue] = await Promise.all([
    get<{ data: Entry[] }>('attention'),
    get<{ data: Process[] }>('processes?limit=100'),
    get<{ engine: string }>('store'),
    get<{ due: number; oldest_due_at: string | null; in_flight: number }>('queue'),
  ])
  const usage = await Promise.all(
    CHARTS.map(([metric]) =>
      get<{ total: number; series: { points: [number, number][] }[] }>(
        `usage?metric=${metric}&step=minute&from=${new Date(lastHour(io.now())).toISOString()}`,
      ),
    ),
  )
  const needsAction = attention.data.some(({ severity }) => severity !== 'info')
  if (options.json) {
    const totals = Object.fromEntries(CHARTS.map(([metric], i) => [metric, usage[i]!.total]))
    printLine(
      io,
      JSON.stringify({
        attention: attention.data,
        processes: processes.data,
        store,
        queue,
        last_hour: totals,
      }),
    )
  } else {
    printService(session, { processes: processes.data, store, queue })
    printAttention(io, attention.data)
    printCharts(io, usage)
  }
  if (needsAction) throw new ExitWith(EXIT.refused)
}

function printService(
  { io, connection }: Session,
  parts: {
    processes: readonly Process[]
    store: { engine: string }
    queue: { due: number; oldest_due_at: string | null }
  },
): void {
  const { processes, store, queue } = parts
  const versions = [...new Set(processes.map(({ version }) => version))].join(', ')
  const oldest =
    queue.oldest_due_at === null ? '' : `, the oldest ${ago(Date.parse(queue.oldest_due_at), io.now())}`
  printLine(
    io,
    `${connection.url}  Jeton ${plain(versions)}, ${plain(store.engine)}, ${processes.length} process${processes.length === 1 ? '' : 'es'}`,
  )
  printLine(io, `${queue.due} ${queue.due === 1 ? 'delivery is' : 'deliveries are'} due${oldest}`)
  printLine(io, '')
}

function printAttention(io: Io, entries: readonly Entry[]): void {
  if (entries.length === 0) printLine(io, `${coloured(io, 'green', '✓')} Nothing needs attention.`)
  let shown = 0
  let left = ENTRY_LINES
  for (const entry of entries) {
    const lines = linesOf(io, entry)
    // A command is never broken, so that it can be copied. The terminal wraps it.
    left -= lines.reduce((sum, line) => sum + Math.ceil(line.length / SCREEN_WIDTH), 0)
    if (left < 0 && shown > 0) break
    shown++
    printLine(io, `${coloured(io, COLOURS[entry.severity], MARKS[entry.severity])} ${lines[0]!.slice(2)}`)
    for (const line of lines.slice(1)) printLine(io, line)
  }
  if (shown < entries.length) printLine(io, `  … and ${entries.length - shown} more: jeton attention list`)
  printLine(io, '')
}

function linesOf(io: Io, { message, since, fix }: Entry): string[] {
  const when = since === null ? '' : ` (${ago(Date.parse(since), io.now())})`
  const text = wrapped(plain(`${message}${when}`), WIDTH).map((line) => `  ${line}`)
  return [...text, `  → ${plain(fix.command)}`]
}

function printCharts(
  io: Io,
  usage: readonly { total: number; series: { points: [number, number][] }[] }[],
): void {
  printLine(io, canDraw(io) ? `${'Last hour'.padEnd(21)}${'1 h ago'.padEnd(27)}now` : 'Last hour')
  for (const [i, [, label]] of CHARTS.entries()) {
    const { total, series } = usage[i]!
    const counts = pairs((series[0]?.points ?? new Array(60).fill([0, 0])).map(([, count]) => count))
    const chart = canDraw(io) ? `${sparkline(counts)}` : ''
    printLine(
      io,
      `  ${label.padEnd(18)} ${chart}${total.toLocaleString('en').padStart(canDraw(io) ? 10 : 0)}`,
    )
  }
}

export function addStatus(program: Command, io: Io): void {
  const command = program
    .command('status')
    .summary('one screen: what needs attention, and the last hour')
    .description(
      'Shows the problems of the service with the command that fixes each, and the traffic of the last hour. Exit code 1 if something needs attention.',
    )
    .option('--json', 'JSON output')
    .addHelpText('after', exampleText(['jeton status', 'jeton status --json']))
  addConnectionOptions(command)
  command.action((options) => showStatus(io, options))
}
