import { withoutCredentials } from '../../contract/ids.ts'
import { curlLine } from '../call-api.ts'
import { plain, TERMINAL_COLUMNS as WIDTH, wrapped } from '../format.ts'
import { asStarted, coloured, type Io, printLine } from '../io.ts'
import { mark } from '../print.ts'
import { type Exchange, type Found, type Step, shownMs } from './tour-project.ts'

export interface StepResult {
  readonly step: Step
  /** Undefined if the check failed. */
  readonly found?: Found | undefined
  readonly failure?: string | undefined
  readonly ms: number
  readonly exchanges: readonly Exchange[]
}

export interface Report {
  begin(title: string): void
  /** Called before the step runs, so that a slow step is visible. */
  beginStep(number: number, step: Step): void
  exchange(exchange: Exchange): void
  endStep(result: StepResult): void
  end(lines: readonly string[]): void
}

const NAME = 20
const RESULT = 29
/** Columns before the result: number, name, mark. */
const MARGIN = 5 + NAME + 3

const indented = (columns: number, text: string): string =>
  wrapped(text, WIDTH - columns)
    .map((line) => (' '.repeat(columns) + line).trimEnd())
    .join('\n')

/** The first line continues the line of the step; further lines are indented. */
function resultLines(io: Io, { found, failure = '' }: StepResult): string[] {
  if (found) {
    const notes = (found.more ?? []).map((line) => coloured(io, 'dim', indented(5, asStarted(io, line))))
    return [`${mark(io, true)} ${found.result.padEnd(RESULT)} ${found.proof}`, ...notes]
  }
  const [first = '', ...rest] = wrapped(failure, WIDTH - MARGIN)
  return [`${mark(io, false)} ${first}`, ...rest.map((line) => ' '.repeat(MARGIN) + line)]
}

/** Prints nothing with --json, one line per step by default, and with --verbose also what it proves and every request. */
export function createReport(io: Io, { json, verbose }: { json?: boolean; verbose?: boolean }): Report {
  const print = (text: string) => printLine(io, text)
  const none = () => undefined
  if (json) return { begin: none, beginStep: none, exchange: none, endStep: none, end: none }
  let head = ''
  return {
    begin: (title) => print(`\n  ${title}\n`),
    beginStep(number, step) {
      head = `${String(number).padStart(3)}  ${step.name.padEnd(NAME)} `
      if (verbose) {
        print(`\n${head.trimEnd()}`)
        for (const line of [step.proves, `By hand: ${step.byHand}`]) print(indented(5, asStarted(io, line)))
      } else if (io.isTTY) io.stdout.write(head)
    },
    exchange: (exchange) => verbose && exchangeLines(exchange).forEach(print),
    endStep(result) {
      const [first = '', ...rest] = resultLines(io, result)
      if (verbose) for (const line of ['', first, ...rest]) print(line && `     ${line.trimStart()}`)
      else for (const line of [(io.isTTY ? '' : head) + first, ...rest]) print(line)
    },
    end: (lines) => print(`\n${lines.map((line) => indented(2, asStarted(io, line))).join('\n')}\n`),
  }
}

/** Lists of events are long, and their rest proves nothing. */
const MAX_BODY = 750

/** A request as curl and its response, split into lines because JSON has no spaces to wrap at. */
function exchangeLines({ url, request, answer, times }: Exchange): string[] {
  const text = plain(withoutCredentials(answer.text))
  const rest = text.length - MAX_BODY
  const lines = [
    ...withoutCredentials(curlLine(url, request)).split('\n'),
    `→ ${answer.response.status}   ${shownMs(answer.ms)}${times > 1 ? `   after ${times} requests` : ''}`,
    ...(text.slice(0, MAX_BODY).match(/.{1,75}/gu) ?? []),
    ...(rest > 0 ? [`… and ${rest} more characters`] : []),
  ]
  return ['', ...lines.map((line) => `     ${line}`)]
}

/** Programs rely on these names. */
export const resultJson = ({ step, found, failure, ms, exchanges }: StepResult) => ({
  name: step.name,
  proves: step.proves,
  passed: found !== undefined,
  ...(found ?? { result: failure, proof: '' }),
  duration_ms: Math.round(ms),
  requests: exchanges.map(({ request, answer, times }) => ({
    method: request.method,
    path: request.path,
    status: answer.response.status,
    request_id: answer.requestId,
    duration_ms: Math.round(answer.ms * 10) / 10,
    ...(times > 1 && { times }),
  })),
})
