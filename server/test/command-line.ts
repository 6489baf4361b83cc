import { spawn } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Live } from '../src/cli/io.ts'
import { run } from '../src/cli/run.ts'

/** The exit code and the output of a command. */
export interface Ran {
  readonly code: number
  readonly out: string
  readonly err: string
}

export interface Surroundings {
  readonly env: Readonly<Record<string, string>>
  /** Whether a person reads the output. */
  readonly isTTY?: boolean
  /** Answers to prompts, in order. Without any, the command has no terminal to ask on. */
  readonly answers?: readonly string[]
  /** Standard input. */
  readonly input?: string
  readonly now?: number
  readonly openBrowser?: (url: string) => Promise<boolean>
}

/** Runs a command in this process, as if it had been typed. */
export const jeton = (argv: readonly string[], surroundings: Surroundings): Promise<Ran> =>
  startJeton(argv, surroundings).ended

/** A command that runs until it is stopped. */
export interface RunningCommand {
  readonly ended: Promise<Ran>
  /** Standard output and standard error so far. */
  said(): string
  /** Resolves once the output matches. Rejects with the whole output if the command ends first. */
  printed(pattern: RegExp): Promise<RegExpExecArray>
  /** Whether it reads single keys of the terminal. */
  readsKeys(): boolean
  /** Presses a key, if the command runs in a terminal. */
  press(key: string): void
  /** As Ctrl-C does. */
  stop(): Promise<Ran>
}

export function startJeton(argv: readonly string[], surroundings: Surroundings): RunningCommand {
  const { env, isTTY = false, input = '', now, openBrowser } = surroundings
  const answers = surroundings.answers && [...surroundings.answers]
  const out: string[] = []
  const err: string[] = []
  let said = ''
  const looks = new Set<() => void>()
  const writer = (chunks: string[]) => ({
    write(chunk: string) {
      chunks.push(chunk)
      said += chunk
      for (const look of looks) look()
    },
  })
  const stop = new AbortController()
  let hear: ((key: string) => void) | undefined
  const live: Live = {
    stopped: stop.signal,
    // Shorter than in a terminal. No test measures it.
    wait: (ms) => wait(Math.min(ms, 10), undefined, { signal: stop.signal }).catch(() => undefined),
    onKey: isTTY
      ? (listener) => {
          hear = listener
          return () => undefined
        }
      : undefined,
  }
  const ended = run({
    argv,
    env,
    isTTY,
    stdout: writer(out),
    stderr: writer(err),
    ask:
      answers &&
      (async (question) => {
        err.push(question)
        return answers.shift() ?? ''
      }),
    readInput: async () => input,
    now: () => now ?? Date.now(),
    openBrowser,
    goLive: () => live,
  }).then((code) => ({ code, out: out.join(''), err: err.join('') }))
  return {
    ended,
    said: () => said,
    printed: (pattern) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const found = pattern.exec(said)
          if (found) resolve(found)
        }
        looks.add(look)
        look()
        void ended.then(({ code }) => reject(new Error(`ended with ${code}: ${said}`)))
      }),
    readsKeys: () => hear !== undefined,
    press: (key) => hear?.(key),
    stop() {
      stop.abort()
      return ended
    },
  }
}

const BINARY = fileURLToPath(new URL('../bin/jeton.js', import.meta.url))

/** The variables of this process without settings. */
export const ownEnvironment = (): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('JETON_')))

/** Runs the binary in its own process, with only the given settings. */
export function spawnJeton(argv: readonly string[], env: Readonly<Record<string, string>>) {
  return spawn(process.execPath, [BINARY, ...argv], {
    env: { ...ownEnvironment(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

export async function jetonProcess(
  argv: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<Ran> {
  const child = spawnJeton(argv, env)
  const ended = new Promise<number>((resolve) => child.once('exit', (code) => resolve(code ?? -1)))
  const [out, err, code] = await Promise.all([text(child.stdout), text(child.stderr), ended])
  return { code, out, err }
}

/** Runs the binary, and sends it a signal as soon as its output matches. */
export async function interruptedProcess(
  argv: readonly string[],
  env: Readonly<Record<string, string>>,
  { at, signal }: { readonly at: RegExp; readonly signal: NodeJS.Signals },
): Promise<Ran> {
  const child = spawnJeton(argv, env)
  const ended = new Promise<number>((resolve) => child.once('exit', (code) => resolve(code ?? -1)))
  let said = ''
  child.stderr.on('data', (chunk: Buffer) => {
    const before = at.test(said)
    said += chunk
    if (!before && at.test(said)) child.kill(signal)
  })
  const [out, err, code] = await Promise.all([text(child.stdout), text(child.stderr), ended])
  return { code, out, err }
}

export const newFolder = (name: string): string => mkdtempSync(join(tmpdir(), `jeton-${name}-`))
