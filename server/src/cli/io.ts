import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { setTimeout as wait } from 'node:timers/promises'
import { styleText } from 'node:util'
import type { Environment } from '../platform/config/index.ts'

interface Writer {
  write(text: string): unknown
}

/** Everything that a command touches of the world around it, so that tests bring their own. */
export interface Io {
  /** What was typed after `jeton`. */
  readonly argv: readonly string[]
  readonly env: Environment
  readonly stdout: Writer
  readonly stderr: Writer
  /** Whether a person reads the output: tables, relative times and colour are for people only. */
  readonly isTTY: boolean
  /** Only where a person can answer. */
  readonly ask?: ((question: string, options?: { hidden?: boolean }) => Promise<string>) | undefined
  readInput(): Promise<string>
  now(): number
  /** For a command that runs until it is told to stop: from now on Ctrl-C asks it to, and a second one ends it. */
  goLive(): Live
}

export interface Live {
  readonly stopped: AbortSignal
  /** Ends early, without an error, when it is stopped. */
  wait(ms: number): Promise<void>
  /** Single keys as they are pressed, only where a person sits; the answer ends it. */
  readonly hearKeys?: ((hear: (key: string) => void) => () => void) | undefined
}

export function processIo(): Io {
  const { stdin, stdout, stderr, env } = process
  return {
    argv: process.argv.slice(2),
    env,
    stdout,
    stderr,
    isTTY: stdout.isTTY === true,
    ask: stdin.isTTY && stderr.isTTY ? askInTerminal : undefined,
    readInput: () => text(stdin),
    now: Date.now,
    goLive,
  }
}

/** npm, and our own starter on an old Node, pass on what the terminal sends to us as well: one Ctrl-C comes twice. */
const SAME_SIGNAL_MS = 500

function goLive(): Live {
  const stop = new AbortController()
  const { stdin, stdout } = process
  let stoppedAt = Number.POSITIVE_INFINITY
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => {
      if (performance.now() > stoppedAt + SAME_SIGNAL_MS) process.exit(INTERRUPTED)
      stoppedAt = Math.min(stoppedAt, performance.now())
      stop.abort()
    })
  // Whoever reads has had enough: the same as Ctrl-C, so that what has to be tidied up is.
  stdout.removeAllListeners('error').on('error', () => stop.abort())
  return {
    stopped: stop.signal,
    wait: (ms) => wait(ms, undefined, { signal: stop.signal }).catch(() => undefined),
    hearKeys: stdin.isTTY && stdout.isTTY ? (hear) => hearKeys(hear, () => stop.abort()) : undefined,
  }
}

const CTRL_C = '\u0003'

/** Without waiting for Enter; Ctrl-C is then a key like any other. */
function hearKeys(hear: (key: string) => void, stop: () => void): () => void {
  const { stdin } = process
  const onData = (chunk: Buffer) => (chunk.toString() === CTRL_C ? stop() : hear(chunk.toString()))
  stdin.setRawMode(true).on('data', onData).resume()
  return () => void stdin.off('data', onData).setRawMode(false).pause()
}

/** As a shell says that a program was stopped by Ctrl-C. */
const INTERRUPTED = 130

/** The question goes to stderr: stdout may be on its way into a file. */
async function askInTerminal(question: string, { hidden = false } = {}): Promise<string> {
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({
    input: process.stdin,
    output: hidden ? silent : process.stderr,
    terminal: true,
  })
  if (hidden) process.stderr.write(question)
  lines.once('SIGINT', () => process.exit(INTERRUPTED))
  // Ctrl-D closes without an answer, which counts as an empty one.
  const closed = new Promise<string>((resolve) => lines.once('close', () => resolve('')))
  try {
    return (await Promise.race([lines.question(question).catch(() => ''), closed])).trim()
  } finally {
    lines.close()
    if (hidden) process.stderr.write('\n')
  }
}

export const printLine = (io: Io, line: string): void => void io.stdout.write(`${line}\n`)

/** A remark for the person at the keyboard; what scripts read stays clean. */
export const remark = (io: Io, line: string): void => void io.stderr.write(`${line}\n`)

export function coloured(io: Io, colour: 'dim' | 'green' | 'red' | 'yellow', word: string): string {
  const wanted = io.isTTY && !io.env.NO_COLOR
  return wanted ? styleText(colour, word, { validateStream: false }) : word
}
