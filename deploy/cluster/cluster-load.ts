import { setTimeout as wait } from 'node:timers/promises'
import type { Database } from '../../server/src/platform/database/index.ts'
import { CHECKS, type CheckInput } from '../../server/test/faults/checks.ts'
import { createDemoProject, type DemoProject } from '../../server/test/faults/demo-project.ts'
import type { HttpRequest, HttpResult } from '../../server/test/faults/http-client.ts'
import { Load } from '../../server/test/faults/load.ts'
import { Random } from '../../server/test/faults/random.ts'
import { type Receiver, startReceiver } from '../../server/test/receiver.ts'
import { CLIENT_ADDRESS } from './network.ts'

const WORKERS = 6
/** Pause of a client after each response: the trial measures losses, not speed. */
const PAUSE_MS = 100
const SETTLED_WITHIN_MS = 60_000
const FILL_PER_BATCH = 50
const COUNT_EVERY_MS = 1_000
/** nginx could not reach a process, or a process died before it responded. The outcome is unknown. */
const UNKNOWN_OUTCOME = new Set([502, 504])

interface Addresses {
  /** The load balancer, which does not serve the management API. */
  readonly url: string
  readonly processes: readonly string[]
}

/** The load of the fault tests, through nginx. */
class BalancedLoad extends Load {
  readonly #processes: readonly string[]
  #next = 0

  constructor({ url, processes }: Addresses, demo: DemoProject) {
    super({ urls: () => [url], demo, random: new Random(Date.now()) })
    this.#processes = processes
  }

  override async send(request: HttpRequest, url?: string): Promise<HttpResult> {
    const isManagement = request.path.startsWith('/management/')
    const process = this.#processes[this.#next++ % this.#processes.length]!
    const answer = await super.send(request, isManagement ? process : url)
    if (url === undefined) await wait(PAUSE_MS)
    return UNKNOWN_OUTCOME.has(answer.status) ? { ...answer, status: 0 } : answer
  }
}

/** Clients that issue, revoke, block, redeem and report in a project that is at its limit, and the checks of their ledger. */
export class ClusterLoad {
  readonly load: BalancedLoad
  readonly demo: DemoProject
  readonly #addresses: Addresses
  readonly #db: Database
  readonly #receiver: Receiver
  readonly #counting: Promise<void>
  readonly #found: string[] = []
  #isOver = false

  private constructor(addresses: Addresses, demo: DemoProject, stores: { db: Database; receiver: Receiver }) {
    this.#addresses = addresses
    this.demo = demo
    this.load = new BalancedLoad(addresses, demo)
    this.#db = stores.db
    this.#receiver = stores.receiver
    this.#counting = this.#countTokens()
  }

  static async create(addresses: Addresses, db: Database): Promise<ClusterLoad> {
    const receiver = await startReceiver(CLIENT_ADDRESS)
    const demo = await createDemoProject(addresses.processes[0]!, receiver.url)
    return new ClusterLoad(addresses, demo, { db, receiver })
  }

  /** Fills the project, so that the clients race for each token that is revoked, and starts the clients. */
  async start(): Promise<void> {
    const fill = () =>
      Promise.all(Array.from({ length: FILL_PER_BATCH }, () => this.load.issue(this.demo.busy)))
    while ((await fill()).every(({ status }) => status === 200));
    this.load.start(WORKERS)
  }

  /** Stops the clients, retries every request without a response, and checks what was acknowledged. */
  async verify(): Promise<void> {
    await this.load.stop()
    await this.load.settle(SETTLED_WITHIN_MS)
    await this.#check((check) => !check.isFinal)
  }

  /** Returns everything that was wrong. */
  async finish(): Promise<string[]> {
    this.#isOver = true
    await this.#counting
    await this.#check((check) => check.isFinal === true)
    await this.#receiver.close()
    this.load.close()
    return [...this.#found, ...this.load.ledger.violations]
  }

  async #check(isWanted: (check: (typeof CHECKS)[number]) => boolean): Promise<void> {
    for (const check of CHECKS.filter(isWanted))
      for (const loss of await check.run(this.#input())) this.#found.push(`${check.name}: ${loss}`)
  }

  #input = (): CheckInput => ({
    load: this.load,
    demo: this.demo,
    db: this.#db,
    urls: () => this.#addresses.processes,
    receiver: this.#receiver,
  })

  /** Counts the active tokens during faults too. */
  async #countTokens(): Promise<void> {
    const limits = CHECKS.find(({ name }) => name === 'limits')!
    for (; !this.#isOver; await wait(COUNT_EVERY_MS))
      this.#found.push(...(await limits.run(this.#input()).catch(() => [])))
  }
}
