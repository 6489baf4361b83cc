import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import { onNode } from './network.ts'

/** As in the systemd units: a process that ended is started again, except after an error in its settings. */
const RESTART_AFTER_MS = 2_000
const WRONG_SETTINGS = 78

interface Program {
  readonly node: string
  readonly name: string
  readonly command: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly logFolder: string
}

/** A program on a node, and the supervisor that restarts it. */
export class Daemon {
  readonly name: string
  readonly logFile: string
  /** Ends that nobody asked for. */
  readonly crashes: string[] = []
  #program: Program
  #child: ChildProcess | undefined
  #ended: Promise<void> = Promise.resolve()
  #isWanted = false

  constructor(program: Program) {
    this.#program = program
    this.name = `${program.name} on ${program.node}`
    this.logFile = `${program.logFolder}/${program.node}-${program.name}.log`
  }

  /** Replaces the command from the next start, as an upgrade does. */
  replace(command: readonly string[]): void {
    this.#program = { ...this.#program, command }
  }

  start(): void {
    this.#isWanted = true
    const [program, ...args] = onNode(this.#program.node, this.#program.command)
    const log = openSync(this.logFile, 'a')
    const child = spawn(program!, args, { env: this.#program.env, stdio: ['ignore', log, log], cwd: '/' })
    closeSync(log)
    this.#child = child
    this.#ended = new Promise((resolve) =>
      child.once('exit', (code, signal) => {
        if (this.#isWanted) void this.#restart(code ?? signal)
        resolve()
      }),
    )
  }

  async #restart(code: number | string | null): Promise<void> {
    this.crashes.push(`${this.name} ended with ${code}: ${readFileSync(this.logFile, 'utf8').slice(-400)}`)
    if (code === WRONG_SETTINGS) return
    await wait(RESTART_AFTER_MS)
    if (this.#isWanted) this.start()
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    this.#isWanted = false
    this.#child?.kill(signal)
    await this.#ended
  }
}
