import type { Progress } from '../platform/progress.ts'
import { CommandFailure, EXIT } from './exit.ts'
import { TERMINAL_COLUMNS } from './format.ts'
import type { Io } from './io.ts'
import { mark } from './print.ts'

/** Lines about the steps of long work. */
export interface StepLines {
  begin(label: string): void
  /** Replaces the text behind the label, in a terminal only. */
  update(detail: string): void
  /** `line` is for output that is not a terminal. Without it, the step leaves no line. */
  end(line: string | undefined): void
  /** Ends the line of a step that failed or was stopped. */
  fail(): void
}

interface StepOptions {
  readonly to: 'stdout' | 'stderr'
  /** Number of steps; 0 if they are not numbered. */
  readonly of: number
  /** In a terminal, the line of a step disappears when it is done: for many steps of one kind. */
  readonly isTransient?: boolean
}

/** Slower than a person can read, faster than a person gets impatient. */
const REDRAW_EVERY_MS = 100
const CLEAR_LINE = '\r\x1b[K'

/** In a terminal a line appears when its step starts, and is updated in place; elsewhere when the step is done. */
export function stepLines(io: Io, { to, of, isTransient = false }: StepOptions): StepLines {
  const out = io[to]
  const isTTY = to === 'stdout' ? io.isTTY : out.isTTY === true
  if (!isTTY)
    return {
      begin: () => undefined,
      update: () => undefined,
      end: (line) => void (line !== undefined && out.write(`${line}\n`)),
      fail: () => undefined,
    }
  const width = String(of).length
  let number = 0
  let label: string | undefined
  let detail = ''
  let drawnAt = 0
  /** A wrapped line could not be replaced, so it is cut. The mark needs two columns. */
  const text = () => `${label}${detail && `  ${detail}`}`.slice(0, (out.columns || TERMINAL_COLUMNS) - 3)
  const redraw = () => out.write(CLEAR_LINE + text())
  return {
    begin(name) {
      number++
      label = of > 0 ? `${String(number).padStart(width)}/${of}  ${name}` : name
      detail = ''
      drawnAt = performance.now()
      out.write(label)
    },
    update(next) {
      detail = next
      if (performance.now() < drawnAt + REDRAW_EVERY_MS) return
      drawnAt = performance.now()
      redraw()
    },
    end(line) {
      if (detail) redraw()
      out.write(line === undefined || isTransient ? CLEAR_LINE : ` ${mark(io, true)}\n`)
      label = undefined
    },
    fail() {
      if (label !== undefined) out.write(` ${mark(io, false)}\n`)
      label = undefined
    },
  }
}

export const rowsText = (rows: number): string =>
  `${rows.toLocaleString('en')} ${rows === 1 ? 'row' : 'rows'}`

/** Shows work on tables or migrations, on stderr. A table without rows leaves no line. */
export function showProgress(io: Io): Progress & Pick<StepLines, 'fail'> {
  let lines = stepLines(io, { to: 'stderr', of: 0 })
  let step = ''
  let rows: number | undefined
  return {
    plan(steps) {
      lines = stepLines(io, { to: 'stderr', of: steps })
    },
    begin(name) {
      step = name
      rows = undefined
      lines.begin(name)
    },
    update(done, of) {
      rows = done
      const share = of ? `, ${Math.floor((done / of) * 100)} %` : ''
      lines.update(rowsText(done) + share)
    },
    end() {
      if (rows === undefined) lines.end(step)
      else lines.end(rows > 0 ? `${step}: ${rowsText(rows)}` : undefined)
    },
    fail: () => lines.fail(),
  }
}

/** Says what an interrupted command has done, and what to do next. Other errors stay as they are. */
export function explainStop(error: unknown, stopped: AbortSignal, message: string): unknown {
  return stopped.aborted && error === stopped.reason ? new CommandFailure(message, EXIT.refused) : error
}
