import { wrongUsage } from './exit.ts'

/** The reader of the output: people get short, relative values; programs get exact ones. */
export interface Reader {
  readonly person: boolean
  readonly now: number
}

const ENTRIES_SHOWN = 3
const UNITS: readonly (readonly [string, number])[] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
]

/** `3 min`. */
export function span(ms: number): string {
  const [unit, size] = UNITS.find(([, least]) => ms >= least) ?? UNITS.at(-1)!
  return `${Math.floor(ms / size)} ${unit}`
}

/** `3 min ago`. */
export function ago(at: number, now: number): string {
  const distance = Math.abs(now - at)
  if (distance < 1_000) return 'just now'
  return at > now ? `in ${span(distance)}` : `${span(distance)} ago`
}

/** Replaces control characters, so that foreign text can neither control the terminal nor break a line. */
export const plain = (text: string): string => text.replace(/[\x00-\x1f\x7f-\x9f]+/g, ' ')

const isTime = (name: string): boolean => name === 'at' || name.endsWith('_at')

/** One value as text. `short` is for cells of a table. */
export function cellOf(name: string, value: unknown, reader: Reader, short = false): string {
  if (value === null || value === undefined) return reader.person ? '–' : ''
  if (Array.isArray(value)) return plain(listed(value.map(String), reader, short))
  if (typeof value === 'object') return plain(String((value as { id?: unknown }).id ?? JSON.stringify(value)))
  if (!reader.person) return plain(String(value))
  if (isTime(name) && typeof value === 'string') return timeOf(value, reader, short)
  return name.endsWith('_in') ? `${value} s` : plain(String(value))
}

/** Separated by commas for programs: flags take the same text. */
function listed(entries: readonly string[], { person }: Reader, short: boolean): string {
  if (!person) return entries.join(',')
  if (entries.length === 0) return '–'
  const rest = short ? entries.length - ENTRIES_SHOWN : 0
  return rest > 0 ? `${entries.slice(0, ENTRIES_SHOWN).join(' ')} +${rest}` : entries.join(' ')
}

function timeOf(value: string, { now }: Reader, short: boolean): string {
  const relative = ago(Date.parse(value), now)
  return short ? relative : `${plain(value)}  (${relative})`
}

/** The value of a column. `last_attempt.error` is a nested field. */
export const valueAt = (row: Readonly<Record<string, unknown>>, column: string): unknown =>
  column.split('.').reduce<unknown>((value, name) => (value as typeof row | null | undefined)?.[name], row)

/** LAST USED for `last_used_at`, LAST ERROR for `last_attempt.error`, LOYALTY POINTS for `loyalty.points`. */
export const headingOf = (name: string): string =>
  name
    .replace(/_(at|id)$/, '')
    .replace(/(?:_\w+)?\./, ' ')
    .replaceAll('_', ' ')
    .toUpperCase()

/** The width of output for people, except for what they copy. */
export const TERMINAL_COLUMNS = 80

/** Breaks text between words. A word longer than the width stays whole. */
export function wrapped(text: string, width: number): string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= width)
      lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines
}

/** Quotes a name for the shell, so that a printed command can be pasted. */
export const shellWord = (text: string): string =>
  /^[\w.@:/-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`

const IRREGULAR: Readonly<Record<string, string>> = {
  attention: 'problems',
  audit: 'audit entries',
  process: 'processes',
  usage: 'usage',
}

/** `deliveries` for `delivery`. */
export const plural = (noun: string): string =>
  IRREGULAR[noun] ?? (noun.endsWith('y') && noun !== 'key' ? `${noun.slice(0, -1)}ies` : `${noun}s`)

const UNIT_MS: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  min: 60_000,
  h: 3_600_000,
  d: 86_400_000,
}

/** Parses `90s`, `5m`, `1h` or `2d`. A number alone is seconds. */
export function durationMs(flag: string, text: string): number {
  const [, count, unit = 's'] = /^(\d{1,9})\s*([a-z]+)?$/.exec(text.trim().toLowerCase()) ?? []
  const size = UNIT_MS[unit]
  if (count === undefined || size === undefined)
    throw wrongUsage(`${flag}: ${JSON.stringify(text)} is not a duration such as 90s, 5m, 1h or 2d.`)
  return Number(count) * size
}

/** The examples at the end of a help text. */
export const exampleText = (lines: readonly string[] | undefined): string =>
  lines ? `\nExamples\n${lines.flatMap(fitting).join('\n')}\n` : ''

/** Leaves four columns for the prefix `npx `. */
const fits = (line: string): boolean => line.length <= TERMINAL_COLUMNS - 4

/** Continues a long example on the next line with a backslash, so that it can still be pasted. */
function fitting(example: string): string[] {
  const whole = `  ${example}`
  const [command, comment] = example.split('   # ')
  if (fits(whole)) return [whole]
  if (comment !== undefined) return [`  # ${comment}`, ...fitting(command!)]
  const [first, ...flags] = example.split(/ (?=--)/)
  const lines = [`  ${first}`]
  for (const flag of flags) {
    const extended = `${lines.at(-1)} ${flag}`
    if (fits(`${extended} \\`)) lines[lines.length - 1] = extended
    else lines.push(`    ${flag}`)
  }
  return lines.map((line, i) => (i < lines.length - 1 ? `${line} \\` : line))
}
