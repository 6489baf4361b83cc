import { spawnSync } from 'node:child_process'
import { makeHome, type Running, serveBinary } from '../binary.ts'
import { OPERATOR } from '../service.ts'

interface Member {
  running: (Running & { url: string }) | undefined
  /** Set while the test ends the process. Otherwise its end is a crash. */
  expected: boolean
}

/** Settings that allow a service to send events to this machine. */
export const SENDING = {
  JETON_ENCRYPTION_KEY: Buffer.alloc(32, 9).toString('base64'),
  JETON_WEBHOOK_ALLOW: '127.0.0.0/8',
}

/** Processes of the real program that share one store. */
export class Fleet {
  readonly #members: Member[]
  readonly #home = makeHome()
  readonly #env: Readonly<Record<string, string>>
  /** Processes that ended by themselves, and bugs that they logged: only the log has the cause of a 500. */
  readonly crashes: string[] = []

  private constructor(env: Readonly<Record<string, string>>, size: number) {
    this.#env = {
      JETON_MANAGEMENT_ID: OPERATOR.id,
      JETON_MANAGEMENT_TOKEN: OPERATOR.token,
      JETON_SAMPLE: 'off',
      ...SENDING,
      ...env,
    }
    this.#members = Array.from({ length: size }, () => ({ running: undefined, expected: false }))
  }

  static async start(env: Readonly<Record<string, string>>, size: number): Promise<Fleet> {
    const fleet = new Fleet(env, size)
    // The first process starts alone, since it creates the tables.
    await fleet.startMember(0)
    await Promise.all(fleet.#members.slice(1).map((_, i) => fleet.startMember(i + 1)))
    return fleet
  }

  urls = (): string[] => this.#members.flatMap(({ running }) => running?.url ?? [])

  pidOf(index: number): number {
    return this.#members[index]!.running!.child.pid!
  }

  async startMember(index: number): Promise<void> {
    const member = this.#members[index]!
    const running = await serveBinary({ home: this.#home.folder, env: this.#env })
    Object.assign(member, { running, expected: false })
    running.child.stdout!.on('data', (text: string) => {
      if (text.includes('"msg":"bug"')) this.crashes.push(text.slice(0, 4_000))
    })
    void running.ended.then((code) => {
      member.running = undefined
      if (!member.expected)
        this.crashes.push(`a process ended by itself (${code}): ${running.stderr().slice(-2_000)}`)
    })
  }

  /** Starts the processes that do not run, as a supervisor would. */
  async startMissing(): Promise<void> {
    await Promise.all(this.#members.map(({ running }, i) => (running ? undefined : this.startMember(i))))
  }

  /** Ends a process with SIGKILL. */
  async kill(index: number): Promise<void> {
    const member = this.#members[index]!
    const { running } = member
    if (!running) return
    member.expected = true
    member.running = undefined
    await running.stop('SIGKILL')
  }

  /** Limits the size of the files that a process writes, to simulate a full disk. */
  limitFiles(index: number, bytes: number | 'unlimited'): void {
    const { status, stderr } = spawnSync('prlimit', [
      '--pid',
      String(this.pidOf(index)),
      `--fsize=${bytes}:unlimited`,
    ])
    if (status !== 0) throw new Error(`prlimit: ${stderr}`)
  }

  async end(): Promise<void> {
    await Promise.all(this.#members.map((_, i) => this.kill(i)))
    this.#home.remove()
  }
}
