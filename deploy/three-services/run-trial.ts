import { setTimeout as wait } from 'node:timers/promises'
import { systemClock } from '../../server/src/platform/clock.ts'
import { openDatabase } from '../../server/src/platform/database/index.ts'
import { makeHome } from '../../server/test/binary.ts'
import { freePort } from '../../server/test/free-port.ts'
import { startPostgres } from '../../server/test/postgres-server.ts'
import { startBalancer } from '../../server/test/proxy.ts'
import { startReceiver } from '../../server/test/receiver.ts'
import { clientOf, OPERATOR } from '../../server/test/service.ts'
import { connectSql } from '../../server/test/sql.ts'
import { Clients, type Phase } from './clients.ts'
import { type Found, findLosses } from './find-losses.ts'
import { createFixtures } from './fixtures.ts'
import { layOut, type Machine } from './machines.ts'

const SERVICES = 3
const WORKERS = 2
const POOL = 5

export interface TrialOptions {
  /** Duration of the load before, between and after the faults. */
  readonly steadyMs: number
  /** How long a killed machine stays down. */
  readonly downMs: number
  /** Pause of a client after each response. */
  readonly pauseMs: number
  say(line: string): void
}

export interface TrialReport extends Found {
  readonly phases: readonly Phase[]
  /** Maximum number of PostgreSQL connections, seen and allowed. */
  readonly connections: { readonly most: number; readonly bound: number }
}

/** Runs PostgreSQL, three services, two workers, nginx in front of them, and clients. */
export async function runTrial(options: TrialOptions): Promise<TrialReport> {
  const cleanUps: (() => unknown)[] = []
  // The process that cleans up after PostgreSQL does not keep this one alive.
  const alive = setInterval(() => undefined, 1_000)
  try {
    const setUp = await build(cleanUps, options)
    const { clients, machines } = setUp
    clients.enter('all running')
    clients.start()
    await wait(options.steadyMs)
    for (const machine of machines) await killOne(machine, clients, options)
    for (const machine of machines) await upgradeOne(machine, clients, options)
    clients.enter('all running again')
    await wait(options.steadyMs)
    await clients.stop()
    options.say('the load has stopped; checking everything that was acknowledged')
    const connections = setUp.connections()
    const db = await openDatabase({ clock: systemClock }, { url: setUp.databaseUrl, pool: 2, folder: '' })
    cleanUps.push(() => db.close())
    return { ...(await findLosses({ ...setUp, db })), phases: clients.phases, connections }
  } finally {
    for (const cleanUp of cleanUps.reverse()) await cleanUp()
    clearInterval(alive)
  }
}

async function killOne(
  machine: Machine,
  clients: Clients,
  { downMs, steadyMs, say }: TrialOptions,
): Promise<void> {
  say(`${machine.name} is killed and restarted`)
  clients.enter(`${machine.name} killed`)
  await machine.kill()
  await wait(downMs)
  await machine.start()
  await wait(steadyMs)
}

async function upgradeOne(
  machine: Machine,
  clients: Clients,
  { steadyMs, say }: TrialOptions,
): Promise<void> {
  say(`${machine.name} is stopped and started again, like in an upgrade`)
  clients.enter(`${machine.name} upgraded`)
  await machine.stop()
  await machine.start()
  await wait(steadyMs)
}

async function build(cleanUps: (() => unknown)[], { say, pauseMs }: TrialOptions) {
  say(`one PostgreSQL, ${SERVICES} services, ${WORKERS} workers, nginx`)
  const { folder: home, remove } = makeHome()
  cleanUps.push(remove)
  const server = await startPostgres({ durable: true })
  cleanUps.push(() => server.remove())
  const databaseUrl = server.url()
  const receiver = await startReceiver()
  cleanUps.push(() => receiver.close())

  const ports = [await freePort(), await freePort(), await freePort()]
  const machines = layOut({ home, env: settings(databaseUrl), ports, workers: WORKERS })
  cleanUps.push(() => Promise.all(machines.map((machine) => machine.kill())))
  // The first one starts alone, because it creates the tables.
  await machines[0]!.start()
  await Promise.all(machines.slice(1).map((machine) => machine.start()))
  const balancer = await startBalancer(ports)
  cleanUps.push(() => balancer.stop())

  const service = clientOf(`http://127.0.0.1:${ports[0]}`)
  const fixtures = await createFixtures(service, receiver.url)
  const connections = watchConnections(databaseUrl, cleanUps)
  const clients = new Clients(balancer.url, fixtures, pauseMs)
  cleanUps.push(() => clients.stop())
  return { url: balancer.url, databaseUrl, clients, fixtures, receiver, machines, connections }
}

/** Settings that must be equal on every machine, and those that this trial needs. */
const settings = (databaseUrl: string): Record<string, string> => ({
  JETON_DATABASE_URL: databaseUrl,
  JETON_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
  JETON_MANAGEMENT_ID: OPERATOR.id,
  JETON_MANAGEMENT_TOKEN: OPERATOR.token,
  JETON_PUBLIC_URL: 'http://jeton.example',
  JETON_TRUSTED_PROXIES: '127.0.0.1',
  JETON_DATABASE_POOL: String(POOL),
  JETON_WEBHOOK_ALLOW: '127.0.0.0/8',
})

/** Tracks the maximum number of connections. */
function watchConnections(url: string, cleanUps: (() => unknown)[]): () => TrialReport['connections'] {
  const sql = connectSql(url, { name: 'trial' })
  let most = 0
  const look = async () => {
    const [row] = await sql<{ n: number }>`select count(*)::int as n from pg_stat_activity
      where backend_type = 'client backend' and application_name <> 'trial'`
    most = Math.max(most, row!.n)
  }
  const timer = setInterval(() => void look().catch(() => undefined), 250)
  cleanUps.push(async () => {
    clearInterval(timer)
    await sql.end()
  })
  return () => ({ most, bound: (SERVICES + WORKERS) * (POOL + 1) })
}
