/** One value of an answer as text: exact for programs, easy for people. */
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

/** Nothing that came from elsewhere may steer the terminal, or break a line that a program reads. */
export const plain = (text: string): string => text.replace(/[\x00-\x1f\x7f-\x9f]+/g, ' ')

const isTime = (name: string): boolean => name === 'at' || name.endsWith('_at')

/** `short` is for tables, where a cell must not push the others away. */
export function cellOf(name: string, value: unknown, reader: Reader, short = false): string {
  if (value === null || value === undefined) return reader.person ? '–' : ''
  if (Array.isArray(value)) return plain(listed(value.map(String), reader, short))
  if (typeof value === 'object') return plain(String((value as { id?: unknown }).id ?? JSON.stringify(value)))
  if (!reader.person) return plain(String(value))
  if (isTime(name) && typeof value === 'string') return timeOf(value, reader, short)
  return name.endsWith('_in') ? `${value} s` : plain(String(value))
}

/** With commas for programs: the same text goes into a flag. */
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

/** The value of a column; `last_attempt.error` is a field of a field. */
export const valueAt = (row: Readonly<Record<string, unknown>>, column: string): unknown =>
  column.split('.').reduce<unknown>((value, name) => (value as typeof row | null | undefined)?.[name], row)

/** `last_used_at` is headed LAST USED, `last_attempt.error` LAST ERROR. */
export const headingOf = (name: string): string =>
  name
    .replace(/_(at|id)$/, '')
    .replace(/_\w+\./, ' ')
    .replaceAll('_', ' ')
    .toUpperCase()
