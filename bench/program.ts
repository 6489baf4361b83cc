import { type ChildProcess, spawn } from 'node:child_process'
import { setTimeout as wait } from 'node:timers/promises'
import { type ProcessUse, useOf } from './process-use.ts'

const START_WITHIN_MS = 300_000
const STOP_WITHIN_MS = 20_000
const POLL_MS = 50
const OUTPUT_CHARACTERS = 4_000

const running = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of running) signalGroup(child, 'SIGKILL')
})

/** Signals the program and the processes that it has started. */
function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid!, signal)
  } catch {
    // They have ended.
  }
}

type Environment = Readonly<Record<string, string>>

/** Without the settings of a Jeton that the developer runs. */
function environment(own: Environment): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith('JETON_'))
  return { ...Object.fromEntries(kept), NODE_ENV: 'production', ...own }
}

/** A child process that is killed when the benchmark ends. */
export class Program {
  readonly #child: ChildProcess
  #output = ''

  constructor(command: string, args: readonly string[], env: Environment = {}) {
    this.#child = spawn(command, args, {
      env: environment(env),
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    })
    running.add(this.#child)
    this.#child.once('exit', () => running.delete(this.#child))
    this.#child.once('error', (error) => (this.#output += error.message))
    // Both are read to the end: a full pipe would block the program.
    for (const stream of [this.#child.stdout!, this.#child.stderr!])
      stream.setEncoding('utf8').on('data', (text: string) => {
        this.#output = (this.#output + text).slice(-OUTPUT_CHARACTERS)
      })
  }

  get #name(): string {
    return this.#child.spawnargs.slice(0, 3).join(' ')
  }

  get hasEnded(): boolean {
    return this.#child.pid === undefined || this.#child.exitCode !== null || this.#child.signalCode !== null
  }

  /** Polls until `find` returns something. Fails with the output if the program ends or takes too long. */
  async until<T>(find: (output: string) => T | undefined | Promise<T | undefined>): Promise<T> {
    const deadline = performance.now() + START_WITHIN_MS
    for (;;) {
      const found = await find(this.#output)
      if (found !== undefined) return found
      if (this.hasEnded || performance.now() > deadline) {
        signalGroup(this.#child, 'SIGKILL')
        throw new Error(`${this.#name} did not start: ${this.#output}`)
      }
      await wait(POLL_MS)
    }
  }

  /** The first URL on 127.0.0.1 that the program prints. */
  printedUrl(): Promise<string> {
    return this.until((output) => /http:\/\/127\.0\.0\.1:\d+/.exec(output)?.[0])
  }

  async respondsAt(url: string): Promise<void> {
    await this.until(async () => ((await fetch(url).catch(() => undefined))?.ok ? true : undefined))
  }

  /** Resolves once the program has ended with 0. */
  async succeeds(): Promise<void> {
    if (!this.hasEnded) await new Promise((resolve) => this.#child.once('exit', resolve))
    if (this.#child.exitCode !== 0) throw new Error(`${this.#name} failed: ${this.#output}`)
  }

  use(): ProcessUse {
    return useOf(this.#child.pid!)
  }

  async stop(): Promise<void> {
    if (this.hasEnded) return
    const ended = new Promise((resolve) => this.#child.once('exit', resolve))
    const late = setTimeout(() => signalGroup(this.#child, 'SIGKILL'), STOP_WITHIN_MS)
    signalGroup(this.#child, 'SIGTERM')
    await ended
    clearTimeout(late)
    // A start script may end before the program that it has started.
    signalGroup(this.#child, 'SIGKILL')
  }
}
