import type { Schemas } from '../../api/client.ts'

type Entry = Schemas['AuditEntry']

/** Spreadsheets run a cell that starts with one of these as a formula. A leading apostrophe makes it text. */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/

/** One cell: always quoted, so that separators and line breaks inside it are harmless. */
export function csvCell(value: string | null): string {
  const text = value ?? ''
  return `"${(FORMULA.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`
}

const json = (value: unknown): string | null => (value === null ? null : JSON.stringify(value))

const COLUMNS: readonly (readonly [header: string, of: (entry: Entry) => string | null])[] = [
  ['at', ({ at }) => at],
  ['action', ({ action }) => action],
  ['actor_type', ({ actor }) => actor.type],
  ['actor_id', ({ actor }) => actor.id],
  ['actor_name', ({ actor_name }) => actor_name],
  ['via', ({ via }) => via],
  ['address', ({ address }) => address],
  ['project_id', ({ project_id }) => project_id],
  ['subject_type', ({ subject }) => subject.type],
  ['subject_id', ({ subject }) => subject.id],
  ['before', ({ before }) => json(before)],
  ['after', ({ after }) => json(after)],
  ['request_id', ({ request_id }) => request_id],
  ['id', ({ id }) => id],
]

const line = (cells: readonly string[]): string => `${cells.join(',')}\r\n`

/** RFC 4180, with a header. */
export const toCsv = (entries: readonly Entry[]): string =>
  line(COLUMNS.map(([header]) => csvCell(header))) +
  entries.map((entry) => line(COLUMNS.map(([, of]) => csvCell(of(entry))))).join('')

/** One JSON object per line, as the API returns it. */
export const toNdjson = (entries: readonly Entry[]): string =>
  entries.map((entry) => `${JSON.stringify(entry)}\n`).join('')
