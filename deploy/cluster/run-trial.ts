import { setTimeout as wait } from 'node:timers/promises'
import { systemClock } from '../../server/src/platform/clock.ts'
import { openDatabase } from '../../server/src/platform/database/index.ts'
import { startReceiver } from '../../server/test/receiver.ts'
import { clientOf } from '../../server/test/service.ts'
import { Clients, type Phase } from '../three-services/clients.ts'
import { type Found, findLosses } from '../three-services/find-losses.ts'
import { createFixtures } from '../three-services/fixtures.ts'
import { Cluster, DATABASE_URL } from './cluster.ts'
import { ClusterLoad } from './cluster-load.ts'
import { FAULTS, type Fault } from './faults.ts'
import type { Build } from './jeton-build.ts'
import { CLIENT_ADDRESS, createNetwork } from './network.ts'

/** Load before and after each fault. */
const STEADY_MS = 5_000
/** Pause of a client after each response: 14 clients send about 45 requests per second. */
const PAUSE_MS = 300
const NO_FAULT: Fault = { name: 'no fault', inject: () => wait(STEADY_MS, []) }
const CHECKING = 'checking'

interface Options {
  readonly folder: string
  /** Runs until the upgrade. */
  readonly build: Build
  /** Part of the name of a fault, to run only that one. */
  readonly only: string
  say(line: string): void
}

export interface TrialReport {
  readonly phases: readonly Phase[]
  readonly found: Found
  readonly acknowledged: { readonly tokens: number; readonly redemptions: number; readonly kills: number }
  /** Everything that was lost or wrong. */
  readonly losses: readonly string[]
}

/** Runs every fault under load. After each of them, checks everything that was acknowledged. */
export async function runTrial({ folder, build, only, say }: Options): Promise<TrialReport> {
  createNetwork()
  const cluster = new Cluster({ folder, build })
  say('starting three nodes (etcd, Patroni, PostgreSQL, Jeton) and nginx')
  await cluster.start()
  const processes = cluster.nodes.map(({ url }) => url)
  const receiver = await startReceiver(CLIENT_ADDRESS)
  const fixtures = await createFixtures(clientOf(processes[0]!), receiver.url)
  const db = await openDatabase({ clock: systemClock }, { url: DATABASE_URL, pool: 3, folder: '' })
  const clients = new Clients(cluster.url, fixtures, PAUSE_MS)
  const load = await ClusterLoad.create({ url: cluster.url, processes }, db)
  const wrong: string[] = []
  clients.enter(CHECKING)
  clients.start()
  for (const fault of [NO_FAULT, ...FAULTS.filter(({ name }) => name.includes(only))])
    wrong.push(...(await runFault({ fault, cluster, clients, load, say })))
  say('the faults are over; checking everything that was acknowledged')
  await clients.stop()
  const found = await findLosses({ url: cluster.url, db, clients, fixtures, receiver })
  const losses = Object.entries(found.losses).flatMap(([kind, all]) =>
    all.map((one: string) => `${kind}: ${one}`),
  )
  wrong.push(...losses, ...(await load.finish()), ...cluster.crashes())
  await db.close()
  const acknowledged = load.load.ledger.acknowledged()
  return {
    phases: clients.phases.filter(({ name }) => name !== CHECKING),
    found,
    acknowledged: {
      tokens: found.tokensAcknowledged + acknowledged.tokens,
      redemptions: found.redemptionsAcknowledged + acknowledged.redemptions,
      kills: acknowledged.kills,
    },
    losses: wrong,
  }
}

interface Run {
  readonly fault: Fault
  readonly cluster: Cluster
  readonly clients: Clients
  readonly load: ClusterLoad
  say(line: string): void
}

async function runFault({ fault, cluster, clients, load, say }: Run): Promise<string[]> {
  say(fault.name)
  clients.enter(CHECKING)
  await load.start()
  await wait(STEADY_MS)
  clients.enter(fault.name)
  const wrong = await fault.inject(cluster, load.demo.busy)
  await cluster.waitUntilHealthy()
  await wait(STEADY_MS)
  clients.enter(CHECKING)
  await load.verify()
  return wrong
}
