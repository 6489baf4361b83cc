import { withoutCredentials } from '../../contract/ids.ts'
import { plain } from '../cells.ts'
import { curlLine } from '../curl.ts'
import { coloured, type Io, printLine } from '../io.ts'
import { mark } from '../print-ladder.ts'
import { TERMINAL_COLUMNS as WIDTH, wrapped } from '../wrapped.ts'
import { shownMs } from './promised.ts'
import type { Seen, Step } from './step.ts'
import type { Exchange } from './wire.ts'

/** A step that was tried, or not. */
export interface Tried {
  readonly step: Step
  readonly held: boolean
  readonly seen: Seen
  readonly ms: number
  readonly exchanges: readonly Exchange[]
}

export interface Report {
  begin(title: string): void
  /** Before it is tried: whoever watches sees what takes long. */
  beginStep(number: number, step: Step): void
  heard(exchange: Exchange): void
  endStep(tried: Tried): void
  end(lines: readonly string[]): void
}

const NAME = 20
const RESULT = 29
const indent = (columns: number, text: string): string =>
  wrapped(text, WIDTH - columns)
    .map((line) => (' '.repeat(columns) + line).trimEnd())
    .join('\n')

const head = (number: number, { name }: Step): string =>
  `${String(number).padStart(3)}  ${name.padEnd(NAME)} `

/** One line for each step, two where it does not fit. */
function outcome(io: Io, { held, seen: { result, proof, more = [] } }: Tried): string[] {
  const first = `${mark(io, held)} ${result.padEnd(RESULT)} ${proof}`.trimEnd()
  return [first, ...more.map((line) => coloured(io, 'dim', indent(5, line)))]
}

const failure = (io: Io, { seen: { result } }: Tried): string[] => {
  const [first = '', ...rest] = wrapped(result, WIDTH - 5 - NAME - 3)
  return [`${mark(io, false)} ${first}`, ...rest.map((line) => ' '.repeat(5 + NAME + 3) + line)]
}

/** For people: a line for each step as it ends. */
export function briefReport(io: Io): Report {
  let begun = ''
  return {
    begin: (title) => printLine(io, `\n${title}\n`),
    beginStep(number, step) {
      begun = head(number, step)
      if (io.isTTY) io.stdout.write(begun)
    },
    heard: () => undefined,
    endStep(tried) {
      const [first, ...rest] = tried.held ? outcome(io, tried) : failure(io, tried)
      printLine(io, (io.isTTY ? '' : begun) + first)
      for (const line of rest) printLine(io, line)
    },
    end: (lines) => printLine(io, `\n${lines.map((line) => indent(2, line)).join('\n')}\n`),
  }
}

/** For people who want to do the same by hand: what a step proves, every request as it can be typed, every answer. */
export function verboseReport(io: Io): Report {
  const brief = briefReport(io)
  return {
    ...brief,
    beginStep(number, step) {
      printLine(io, `\n${head(number, step).trimEnd()}`)
      printLine(io, indent(5, step.proves))
      printLine(io, indent(5, `By hand: ${step.byHand}`))
    },
    heard(exchange) {
      for (const line of exchangeLines(exchange)) printLine(io, line)
    },
    endStep(tried) {
      printLine(io, '')
      for (const line of tried.held ? outcome(io, tried) : failure(io, tried))
        printLine(io, `     ${line.trimStart()}`)
    },
  }
}

/** Lists of events are long, and no proof lies in their end. */
const ANSWER_MOST = 750

function exchangeLines({ url, request, answer, times }: Exchange): string[] {
  const typed = withoutCredentials(curlLine(url, request)).split('\n')
  const asked = times > 1 ? `   asked ${times} times` : ''
  const text = plain(withoutCredentials(answer.text))
  const left = text.length - ANSWER_MOST
  const shown = left > 0 ? [...cut(text.slice(0, ANSWER_MOST)), `… and ${left} characters more`] : cut(text)
  const lines = ['', ...typed, `→ ${answer.status}   ${shownMs(answer.ms)}${asked}`, ...shown]
  return lines.map((line) => (line ? `     ${line}` : ''))
}

/** Answers are one long word. */
const cut = (text: string): string[] => text.match(/.{1,75}/gu) ?? []

/** For programs the whole is one document, at the end. */
export const silentReport: Report = {
  begin: () => undefined,
  beginStep: () => undefined,
  heard: () => undefined,
  endStep: () => undefined,
  end: () => undefined,
}

export const triedJson = ({ step, held, seen, ms, exchanges }: Tried) => ({
  name: step.name,
  proves: step.proves,
  as_promised: held,
  result: seen.result,
  proof: seen.proof,
  ...(seen.more && { more: seen.more }),
  duration_ms: Math.round(ms),
  requests: exchanges.map(({ request, answer, times }) => ({
    method: request.method,
    path: request.path,
    status: answer.status,
    request_id: answer.requestId,
    duration_ms: Math.round(answer.ms * 10) / 10,
    ...(times > 1 && { times }),
  })),
})
