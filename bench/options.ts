import { parseArgs } from 'node:util'
import { SUBJECT_NAMES, type SubjectName } from './launch.ts'
import { YARDSTICK } from './measure/throughput.ts'

export const PARTS = [
  'introspect',
  'issue',
  'gateway',
  'redemptions',
  'mixed',
  'growth',
  'turnover',
  'limits',
  'lists',
  'memory',
  'workers',
  'deliveries',
  'store',
] as const
export type Part = (typeof PARTS)[number]

/** Asked for by one name, and each by its own. */
const GROWTH: readonly Part[] = ['growth', 'turnover', 'limits', 'lists']

export interface Options {
  readonly parts: readonly Part[]
  readonly subjects: readonly SubjectName[]
  readonly seconds: number
  readonly warmUpSeconds: number
  readonly rounds: number
  readonly quick: boolean
  readonly json: string | undefined
  readonly page: boolean
}

export const USAGE = `npm run bench -- [part …] [options]

  part                    ${PARTS.join(', ')}; all if left out;
                          growth brings ${GROWTH.slice(1).join(', ')} along
  --only PART[,PART]      the same
  --subjects NAME[,NAME]  for introspect, issue and gateway: ${SUBJECT_NAMES.join(', ')}
  --seconds N             length of one measurement (5); introspect, issue and gateway are cut into slices of it
  --rounds N              how often everything is measured; the median counts (2)
  --quick                 one round of 1 s, at most 100,000 active tokens and as many events: to see that it works
  --json FILE             all figures, of every round
  --page                  write docs/benchmarks.md with its plots
`

export class WrongUsage extends Error {}

function choose<T extends string>(text: string | undefined, from: readonly T[]): readonly T[] {
  if (text === undefined) return from
  const chosen = text.split(',')
  const unknown = chosen.find((one) => !from.includes(one as T))
  if (unknown !== undefined) throw new WrongUsage(`"${unknown}" is none of ${from.join(', ')}.`)
  return from.filter((one) => chosen.includes(one))
}

function positive(text: string | undefined, fallback: number): number {
  const value = text === undefined ? fallback : Number(text)
  if (!Number.isInteger(value) || value < 1) throw new WrongUsage(`"${text}" is not a number from 1 up.`)
  return value
}

function parse(args: readonly string[]) {
  const text = { type: 'string' } as const
  const options = {
    only: text,
    subjects: text,
    seconds: text,
    rounds: text,
    json: text,
    quick: { type: 'boolean' },
    page: { type: 'boolean' },
  } as const
  try {
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true })
    const named = [...positionals, ...(values.only === undefined ? [] : [values.only])]
    const parts = named
      .join(',')
      .split(',')
      .flatMap((one): readonly string[] => (one === 'growth' ? GROWTH : [one]))
    return { ...values, only: named.length > 0 ? parts.join(',') : undefined }
  } catch (error) {
    throw new WrongUsage((error as Error).message)
  }
}

export function readOptions(args: readonly string[]): Options {
  const { only, subjects, seconds, rounds, json, quick = false, page = false } = parse(args)
  const chosen = choose(subjects, SUBJECT_NAMES)
  return {
    parts: choose(only, PARTS),
    // Without the yardstick there would be no ratio.
    subjects: SUBJECT_NAMES.filter((name) => chosen.includes(name) || name === YARDSTICK),
    seconds: positive(seconds, quick ? 1 : 5),
    warmUpSeconds: 1,
    rounds: positive(rounds, quick ? 1 : 2),
    quick,
    json,
    page,
  }
}
