import { performance } from 'node:perf_hooks'
import { setTimeout as wait } from 'node:timers/promises'
import { expect } from 'vitest'
import type { Database } from '../../src/platform/database/index.ts'
import type { Receiver } from '../receiver.ts'
import { CHECKS, type Check } from './checks.ts'
import { SEED } from './form.ts'
import { Load } from './load.ts'
import { Random } from './random.ts'
import { report } from './report.ts'
import { type Stage, setStage } from './stage.ts'

/** Faults end, and the service comes back by itself: the contract promises 15 s after the return of PostgreSQL, which a busy machine may stretch. */
const BACK_WITHIN_MS = 60_000
const SETTLED_WITHIN_MS = 120_000

interface Setting {
  readonly fault: string
  readonly engine: string
  readonly urls: () => readonly string[]
  readonly db: Database
  readonly workers?: number
  /** Where every event is sent. */
  readonly receiver?: Receiver
  /** What went wrong inside the processes that are held to account. */
  readonly crashes?: readonly string[]
}

/** One kind of fault, as often as the test likes, under load; and the reckoning. */
export class Drama {
  readonly load: Load
  readonly random: Random
  readonly stage: Stage
  readonly #setting: Setting
  #times = 0
  #backAfterMs: number | null = null
  readonly #lost: string[] = []

  private constructor(setting: Setting, stage: Stage, random: Random) {
    this.#setting = setting
    this.stage = stage
    this.random = random
    this.load = new Load({ urls: setting.urls, stage, random })
  }

  static async begin(setting: Setting): Promise<Drama> {
    return new Drama(setting, await setStage(setting.urls()[0]!, setting.receiver?.url), new Random(SEED))
  }

  startLoad(): void {
    this.load.start(this.#setting.workers)
  }

  /** Until so many more writes were acknowledged: the fault then falls into the middle of things. */
  async acknowledge(more: number): Promise<void> {
    const count = () => Object.values(this.load.ledger.acknowledged()).reduce((sum, n) => sum + n, 0)
    const wanted = count() + more
    for (const end = Date.now() + BACK_WITHIN_MS; count() < wanted; await wait(10))
      if (Date.now() > end) throw new Error(`the service does not come back: ${this.#state()}`)
  }

  /** Until nothing was acknowledged for two seconds. */
  async fallSilent(): Promise<void> {
    const count = () => JSON.stringify(this.load.ledger.acknowledged())
    const end = Date.now() + BACK_WITHIN_MS
    for (let before = ''; before !== count(); ) {
      if (Date.now() > end) throw new Error(`it goes on acknowledging: ${this.#state()}`)
      before = count()
      await wait(2_000)
    }
  }

  /** The fault happens; then the service must acknowledge writes again, without a hand. */
  async strike(fault: () => Promise<unknown>): Promise<void> {
    await fault()
    this.#times++
    const over = performance.now()
    while (this.load.lastSuccessAt < over) {
      if (performance.now() > over + BACK_WITHIN_MS)
        throw new Error(
          `not back ${BACK_WITHIN_MS / 1000} s after "${this.#setting.fault}": ${this.#state()}`,
        )
      await wait(5)
    }
    this.#backAfterMs = Math.max(this.#backAfterMs ?? 0, Math.round(this.load.lastSuccessAt - over))
  }

  /** The load pauses, what had no answer gets one, and the books must balance. */
  async reckon(): Promise<void> {
    await this.load.stop()
    await this.load.settle(SETTLED_WITHIN_MS)
    await this.#hold(CHECKS.filter(({ atTheEnd }) => !atTheEnd))
  }

  /** After the last reckoning. */
  async conclude(): Promise<void> {
    await this.#hold(CHECKS.filter(({ atTheEnd }) => atTheEnd))
  }

  async #hold(checks: readonly Check[]): Promise<void> {
    const { load, stage } = this
    const { db, urls, receiver, crashes = [] } = this.#setting
    const found = [...crashes]
    for (const check of checks)
      for (const loss of await check.run({ load, stage, db, urls, receiver }))
        found.push(`${check.name}: ${loss}`)
    this.#lost.push(...found, ...load.ledger.violations.splice(0))
    expect(this.#lost, `seed ${SEED}, ${this.#state()}`).toEqual([])
  }

  end(): void {
    this.load.close()
    const { fault, engine } = this.#setting
    const row = { fault, engine, times: this.#times, lost: this.#lost.length, backAfterMs: this.#backAfterMs }
    report('fault', { ...row, ...this.load.ledger.acknowledged() })
  }

  #state = (): string => `answers so far ${JSON.stringify(this.load.ledger.statuses)}`
}
