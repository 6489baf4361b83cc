import type { IssueInput, IssueOutcome } from './issue.ts'
import { DIGEST_BYTES } from './token.ts'

/**
 * A batch as it crosses to the SQLite thread and back: one text and arrays of numbers are copied as they are, where
 * hundreds of strings and objects would each be taken apart and put together (7 µs a token, measured).
 */
export interface IssueMessage {
  readonly now: number
  /** Project ids, key ids and scopes, a line each. */
  readonly texts: string
  readonly keyVersions: Float64Array
  readonly digests: Uint8Array
}

export const packInput = ({
  now,
  projectIds,
  keyIds,
  scopes,
  keyVersions,
  digests,
}: IssueInput): IssueMessage => ({
  now,
  texts: [...projectIds, ...keyIds, ...scopes].join('\n'),
  keyVersions: Float64Array.from(keyVersions),
  digests,
})

export type UnpackedInput = Omit<IssueInput, 'keysVersions'>

export function unpackInput({ now, texts, keyVersions, digests }: IssueMessage): UnpackedInput {
  const lines = texts.split('\n')
  const count = digests.length / DIGEST_BYTES
  return {
    now,
    projectIds: lines.slice(0, count),
    keyIds: lines.slice(count, 2 * count),
    scopes: lines.slice(2 * count),
    keyVersions: Array.from(keyVersions),
    digests,
  }
}

const NUMBERS = 3
const [STALE, ISSUED, PROJECT_FULL, KEY_FULL] = [0, 1, 2, 3]

export function packOutcomes(outcomes: readonly IssueOutcome[]): Float64Array {
  const packed = new Float64Array(outcomes.length * NUMBERS)
  for (const [i, outcome] of outcomes.entries()) packed.set(numbersOf(outcome), i * NUMBERS)
  return packed
}

function numbersOf(outcome: IssueOutcome): number[] {
  if (outcome.status === 'stale') return [STALE]
  if (outcome.status === 'issued') return [ISSUED, outcome.epoch, outcome.expiresAt]
  return [outcome.quota === 'project' ? PROJECT_FULL : KEY_FULL, outcome.retryAfterSeconds]
}

export function unpackOutcomes(packed: Float64Array): IssueOutcome[] {
  const outcomes: IssueOutcome[] = []
  for (let i = 0; i < packed.length; i += NUMBERS)
    outcomes.push(outcomeOf(packed[i]!, packed[i + 1]!, packed[i + 2]!))
  return outcomes
}

function outcomeOf(kind: number, first: number, second: number): IssueOutcome {
  if (kind === STALE) return { status: 'stale' }
  if (kind === ISSUED) return { status: 'issued', epoch: first, expiresAt: second }
  return { status: 'full', quota: kind === PROJECT_FULL ? 'project' : 'key', retryAfterSeconds: first }
}
