import type { Database } from '../../platform/database/index.ts'

/** A problem that an operator should know about, and what to do. */
export interface Attention {
  readonly kind: string
  readonly severity: Severity
  /** When it began, epoch milliseconds; null if unknown. */
  readonly since: number | null
  readonly subject: Subject
  readonly message: string
  readonly fix: Fix
}

export type Severity = 'error' | 'warning' | 'info'

export interface Subject {
  readonly type: 'project' | 'api_key' | 'webhook' | 'distribution' | 'process' | 'service'
  readonly id: string
  readonly name: string
  /** Null for the service as a whole. */
  readonly project_id: string | null
}

export interface Fix {
  /** Command or setting that fixes it or shows its cause. */
  readonly command: string
  /** The same through the API; null where no call does it. */
  readonly call: string | null
}

/** Where the rules look: at one project or at all. */
export interface Scope {
  readonly db: Database
  readonly projectId: string | undefined
  readonly now: number
}

/** Entries of one rule. More of them would not be read. */
export const MAX_PER_RULE = 100

const RANK: Readonly<Record<Severity, number>> = { error: 0, warning: 1, info: 2 }

/** Most severe first, then longest lasting first. */
export const bySeverity = (a: Attention, b: Attention): number =>
  RANK[a.severity] - RANK[b.severity] ||
  (a.since ?? Number.MAX_SAFE_INTEGER) - (b.since ?? Number.MAX_SAFE_INTEGER)

/** A value as one word of the shell. */
export const word = (text: string): string =>
  /^[\w.:/@-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
