/** A field that a change has set, changed or removed. Undefined stands for a field that is not there. */
export interface FieldChange {
  readonly field: string
  readonly before: string | undefined
  readonly after: string | undefined
}

/** They change with every change, and the entry has its own time. */
const TIMES_OF_CHANGE: readonly string[] = ['updated_at', 'last_used_at']

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function valueText(value: unknown): string | undefined {
  if (value === undefined) return undefined
  if (typeof value === 'string') return value
  return Array.isArray(value) && value.every((one) => typeof one === 'string')
    ? value.join(', ') || '[]'
    : JSON.stringify(value)
}

/** The fields that differ, in the order of the later state. */
export function changesOf(before: unknown, after: unknown): FieldChange[] {
  const [old, present] = [isObject(before) ? before : {}, isObject(after) ? after : {}]
  const fields = [...new Set([...Object.keys(present), ...Object.keys(old)])]
  return fields
    .filter((field) => !TIMES_OF_CHANGE.includes(field))
    .map((field) => ({ field, before: valueText(old[field]), after: valueText(present[field]) }))
    .filter((change) => change.before !== change.after)
}
