import { performance } from 'node:perf_hooks'
import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'vitest'
import type { Database } from '../../src/platform/database/index.ts'
import type { Receiver } from '../receiver.ts'
import { CHECKS, type Check } from './checks.ts'
import { createDemoProject, type DemoProject } from './demo-project.ts'
import { Load } from './load.ts'
import { Random } from './random.ts'
import { report } from './report.ts'
import { SEED } from './run-settings.ts'

/** The service recovers by itself within 15 s after PostgreSQL returns. A busy machine may take longer. */
const BACK_WITHIN_MS = 60_000
const SETTLED_WITHIN_MS = 120_000

interface ScenarioOptions {
  readonly fault: string
  readonly engine: string
  readonly urls: () => readonly string[]
  readonly db: Database
  readonly workers?: number
  /** Receives every event. */
  readonly receiver?: Receiver
  /** Crashes and logged bugs of the processes under test. */
  readonly crashes?: readonly string[]
}

/** Injects one kind of fault under load, any number of times, and verifies that nothing was lost. */
export class FaultScenario {
  readonly load: Load
  readonly random: Random
  readonly demo: DemoProject
  readonly #options: ScenarioOptions
  #times = 0
  #backAfterMs: number | null = null
  readonly #lost: string[] = []

  private constructor(options: ScenarioOptions, demo: DemoProject, random: Random) {
    this.#options = options
    this.demo = demo
    this.random = random
    this.load = new Load({ urls: options.urls, demo, random })
  }

  static async start(options: ScenarioOptions): Promise<FaultScenario> {
    return new FaultScenario(
      options,
      await createDemoProject(options.urls()[0]!, options.receiver?.url),
      new Random(SEED),
    )
  }

  startLoad(): void {
    this.load.start(this.#options.workers)
  }

  /** Waits until this many more writes were acknowledged, so that the next fault interrupts requests in flight. */
  async waitForWrites(more: number): Promise<void> {
    const count = () => Object.values(this.load.ledger.acknowledged()).reduce((sum, n) => sum + n, 0)
    const wanted = count() + more
    for (const end = Date.now() + BACK_WITHIN_MS; count() < wanted; await wait(10))
      if (Date.now() > end) throw new Error(`the service does not recover: ${this.#state()}`)
  }

  /** Waits until no write was acknowledged for two seconds. */
  async waitForSilence(): Promise<void> {
    const count = () => JSON.stringify(this.load.ledger.acknowledged())
    const end = Date.now() + BACK_WITHIN_MS
    for (let before = ''; before !== count(); ) {
      if (Date.now() > end) throw new Error(`writes are still acknowledged: ${this.#state()}`)
      before = count()
      await wait(2_000)
    }
  }

  /** Injects the fault. Afterwards the service must acknowledge writes again by itself. */
  async inject(fault: () => Promise<unknown>): Promise<void> {
    await fault()
    this.#times++
    const over = performance.now()
    while (this.load.lastSuccessAt < over) {
      if (performance.now() > over + BACK_WITHIN_MS)
        throw new Error(
          `no write acknowledged ${BACK_WITHIN_MS / 1000} s after "${this.#options.fault}": ${this.#state()}`,
        )
      await wait(5)
    }
    this.#backAfterMs = Math.max(this.#backAfterMs ?? 0, Math.round(this.load.lastSuccessAt - over))
  }

  /** Stops the load, retries every request without a response, and runs the checks. */
  async verify(): Promise<void> {
    await this.load.stop()
    await this.load.settle(SETTLED_WITHIN_MS)
    await this.#run(CHECKS.filter(({ isFinal }) => !isFinal))
  }

  /** Runs the checks that take long, after the last `verify`. */
  async verifyFinal(): Promise<void> {
    await this.#run(CHECKS.filter(({ isFinal }) => isFinal))
  }

  async #run(checks: readonly Check[]): Promise<void> {
    const { load, demo } = this
    const { db, urls, receiver, crashes = [] } = this.#options
    const found = [...crashes]
    for (const check of checks)
      for (const loss of await check.run({ load, demo, db, urls, receiver }))
        found.push(`${check.name}: ${loss}`)
    this.#lost.push(...found, ...load.ledger.violations.splice(0))
    expect(this.#lost, `seed ${SEED}, ${this.#state()}`).toEqual([])
  }

  end(): void {
    this.load.close()
    const { fault, engine } = this.#options
    const row = { fault, engine, times: this.#times, lost: this.#lost.length, backAfterMs: this.#backAfterMs }
    report('fault', { ...row, ...this.load.ledger.acknowledged() })
  }

  #state = (): string => `answers so far ${JSON.stringify(this.load.ledger.statuses)}`
}
