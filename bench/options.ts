import { parseArgs } from 'node:util'

export const SCENARIOS = [
  'issue',
  'introspect',
  'gateway',
  'redeem',
  'deliver',
  'mixed',
  'memory',
  'growth',
] as const
export type Scenario = (typeof SCENARIOS)[number]

export const USAGE = `npm run bench -- [scenario …] [options]

  scenario          ${SCENARIOS.join(', ')}; default: all
  --subjects TEXT   only subjects of issue, introspect and gateway whose name contains the text
  --hydra PATH      binary of Ory Hydra to compare with
  --keycloak DIR    folder of Keycloak to compare with
  --seconds N       length of a slice, at least (default 1)
  --rounds N        slices per subject (default 5)
  --quick           one round: shows that everything works, not how fast
  --json FILE       write all figures
  --from FILE       measure nothing, use the figures of this file
  --publish         write docs/benchmarks.md, its chart and the table of the README
  --force           publish a quick, noisy or incomplete run, with a remark
`

export class UsageError extends Error {}

function positive(text: string | undefined, fallback: number): number {
  const value = text === undefined ? fallback : Number(text)
  if (!Number.isInteger(value) || value < 1) throw new UsageError(`"${text}" is not a positive whole number`)
  return value
}

const text = { type: 'string' } as const
const flag = { type: 'boolean', default: false } as const
const OPTIONS = {
  ...{ subjects: text, hydra: text, keycloak: text, seconds: text, rounds: text, json: text, from: text },
  ...{ quick: flag, publish: flag, force: flag, help: flag },
} as const

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true })
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

export function readOptions(args: readonly string[]) {
  const { values, positionals } = parse(args)
  const unknown = positionals.find((name) => !SCENARIOS.includes(name as Scenario))
  if (unknown !== undefined) throw new UsageError(`unknown scenario: ${unknown}`)
  return {
    ...values,
    scenarios: SCENARIOS.filter((name) => positionals.length === 0 || positionals.includes(name)),
    seconds: positive(values.seconds, 1),
    rounds: positive(values.rounds, values.quick ? 1 : 5),
  }
}

export type Options = ReturnType<typeof readOptions>
