import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { setTimeout as wait } from 'node:timers/promises'
import { styleText } from 'node:util'
import type { Environment } from '../platform/config/index.ts'
import { openBrowser } from './open-browser.ts'

interface Writer {
  write(text: string): unknown
  /** True for a terminal. */
  readonly isTTY?: boolean
  /** Width of the terminal. */
  readonly columns?: number
}

/** Everything outside the program that a command uses. Tests pass their own. */
export interface Io {
  /** The arguments after `jeton`. */
  readonly argv: readonly string[]
  readonly env: Environment
  readonly stdout: Writer
  readonly stderr: Writer
  /** True if a person reads the output. Tables, relative times and colour are for people only. */
  readonly isTTY: boolean
  /** Undefined without a terminal. */
  readonly ask?: ((question: string, options?: { hidden?: boolean }) => Promise<string>) | undefined
  readInput(): Promise<string>
  now(): number
  /** Returns whether a browser was started. */
  readonly openBrowser?: ((url: string) => Promise<boolean>) | undefined
  /** For a command that runs until it is stopped: the first Ctrl-C asks it to stop, the second one ends the process. */
  goLive(): Live
}

export interface Live {
  readonly stopped: AbortSignal
  /** Resolves early, without an error, when the command is stopped. */
  wait(ms: number): Promise<void>
  /** Single key presses, in a terminal only. Call the result to stop listening. */
  readonly onKey?: ((handle: (key: string) => void) => () => void) | undefined
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
    openBrowser: (url) => openBrowser(url, env),
    goLive,
  }
}

/** npm, and our launcher on an old Node, forward a signal that the terminal also sends to us: one Ctrl-C arrives twice. */
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
  // A closed pipe counts as Ctrl-C, so that the command still cleans up.
  stdout.removeAllListeners('error').on('error', () => stop.abort())
  return {
    stopped: stop.signal,
    wait: (ms) => wait(ms, undefined, { signal: stop.signal }).catch(() => undefined),
    onKey: stdin.isTTY && stdout.isTTY ? (handle) => readKeys(handle, () => stop.abort()) : undefined,
  }
}

const CTRL_C = '\u0003'

/** Reads keys without waiting for Enter. In raw mode the terminal sends Ctrl-C as a key. */
function readKeys(handle: (key: string) => void, stop: () => void): () => void {
  const { stdin } = process
  const onData = (chunk: Buffer) => (chunk.toString() === CTRL_C ? stop() : handle(chunk.toString()))
  stdin.setRawMode(true).on('data', onData).resume()
  return () => void stdin.off('data', onData).setRawMode(false).pause()
}

/** The exit code that shells use for a program stopped by Ctrl-C. */
const INTERRUPTED = 130

/** Asks on stderr, because stdout may be redirected to a file. */
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

/** A note for people, on stderr, so that the output that scripts read stays clean. */
export const remark = (io: Io, line: string): void => void io.stderr.write(`${line}\n`)

/** Names the program as it was started: npm sets `npm_command` for `npx jeton` and for `npm start`. */
export const asStarted = ({ env }: Pick<Io, 'env'>, text: string): string =>
  env.npm_command ? text.replaceAll(/(?<!npx |[\w./-])jeton (?=[a-z])/g, 'npx jeton ') : text

export function coloured(io: Io, colour: 'dim' | 'green' | 'red' | 'yellow', word: string): string {
  const wanted = io.isTTY && !io.env.NO_COLOR
  return wanted ? styleText(colour, word, { validateStream: false }) : word
}
