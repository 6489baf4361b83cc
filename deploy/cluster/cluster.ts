import { readFileSync } from 'node:fs'
import { OPERATOR } from '../../server/test/service.ts'
import { connectSql } from '../../server/test/sql.ts'
import { Daemon } from './daemon.ts'
import { DatabaseNode, type Member, superuserUrl } from './database-node.ts'
import type { Build } from './jeton-build.ts'
import { CLIENT_ADDRESS, connectNode } from './network.ts'
import { createNginx } from './nginx.ts'
import { askJson, until } from './until.ts'

const ADDRESSES = { node1: '10.20.0.11', node2: '10.20.0.12', node3: '10.20.0.13' }
const BALANCER_ADDRESS = '10.20.0.10'
const WORKER_NODES = ['node1', 'node2']
const HTTP_PORT = 8080
const WORKER_PORT = 8082
const DATABASE_POOL = 5

/** Every host is in the URL. Jeton finds the leader by itself. */
export const DATABASE_URL = `postgres://jeton:jeton@${Object.values(ADDRESSES)
  .map((address) => `${address}:5432`)
  .join(',')}/jeton`

const settings = (home: string): Record<string, string> => ({
  PATH: process.env.PATH ?? '',
  HOME: home,
  XDG_CONFIG_HOME: home,
  JETON_DATABASE_URL: DATABASE_URL,
  JETON_DATABASE_POOL: String(DATABASE_POOL),
  JETON_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
  JETON_MANAGEMENT_ID: OPERATOR.id,
  JETON_MANAGEMENT_TOKEN: OPERATOR.token,
  JETON_PUBLIC_URL: 'http://jeton.example',
  JETON_TRUSTED_PROXIES: BALANCER_ADDRESS,
  JETON_WEBHOOK_ALLOW: `${CLIENT_ADDRESS}/32`,
  JETON_CONSOLE: 'off',
})

/** A machine with etcd, PostgreSQL, an HTTP process of Jeton and, on two of three, a worker. */
export interface ClusterNode {
  readonly database: DatabaseNode
  readonly url: string
  readonly http: Daemon
  readonly worker: Daemon | undefined
}

function createNode(name: string, address: string, { folder, build }: Options): ClusterNode {
  connectNode(name, address)
  const env = { ...settings(folder), JETON_HOST: address }
  const common = { node: name, logFolder: folder }
  return {
    database: new DatabaseNode(name, address, folder),
    url: `http://${address}:${HTTP_PORT}`,
    http: new Daemon({
      ...{ ...common, name: 'http', command: build(['serve', '--no-worker']) },
      env: { ...env, JETON_PORT: String(HTTP_PORT) },
    }),
    worker: WORKER_NODES.includes(name)
      ? new Daemon({
          ...{ ...common, name: 'worker', command: build(['worker']) },
          env: { ...env, JETON_MANAGEMENT_PORT: String(WORKER_PORT) },
        })
      : undefined,
  }
}

interface Options {
  readonly folder: string
  readonly build: Build
}

/** Three nodes and a load balancer, each in a network namespace of its own. */
export class Cluster {
  readonly nodes: readonly ClusterNode[]
  readonly url = `http://${BALANCER_ADDRESS}:8000`
  readonly #balancer: Daemon

  constructor(options: Options) {
    this.nodes = Object.entries(ADDRESSES).map(([name, address]) => createNode(name, address, options))
    connectNode('balancer', BALANCER_ADDRESS)
    this.#balancer = createNginx('balancer', options.folder, Object.values(ADDRESSES))
  }

  async start(): Promise<void> {
    for (const { database } of this.nodes) database.start()
    const leader = await this.#waitUntilReplicated()
    await createDatabase(leader.database.address)
    // The first process starts alone, because it creates the tables.
    await this.startJeton(this.nodes[0]!)
    await Promise.all(this.nodes.slice(1).map((node) => this.startJeton(node)))
    this.#balancer.start()
    await this.waitUntilHealthy()
  }

  async startJeton({ http, worker, url, database }: ClusterNode): Promise<void> {
    http.start()
    worker?.start()
    await until(`${http.name} is ready`, () => isReady(url))
    if (worker)
      await until(`${worker.name} is ready`, () => isReady(`http://${database.address}:${WORKER_PORT}`))
  }

  async leader(): Promise<ClusterNode> {
    return this.#withRole('leader')
  }

  synchronousStandby(): Promise<ClusterNode> {
    return this.#withRole('sync_standby')
  }

  /** Waits until a node other than this one is the leader. */
  async newLeader({ database: { name } }: ClusterNode): Promise<ClusterNode> {
    return until(`a leader other than ${name}`, async () => {
      const leader = await this.leader()
      return leader.database.name !== name && leader
    })
  }

  async etcdLeader(): Promise<ClusterNode> {
    for (const node of this.nodes) if ((await node.database.etcdStatus()).isLeader) return node
    throw new Error('etcd has no leader')
  }

  /** Waits until every member of etcd, PostgreSQL and Jeton works. */
  async waitUntilHealthy(): Promise<void> {
    await this.#waitUntilReplicated()
    for (const { database, url } of this.nodes) {
      await until(`etcd on ${database.name}`, () => database.etcdStatus())
      await until(`Jeton on ${database.name}`, () => isReady(url))
    }
    await until('nginx', async () => (await askJson(`${this.url}/health/ready`)).status === 200)
  }

  /** Unexpected ends of processes, and bugs that they logged. */
  crashes(): string[] {
    const daemons = this.nodes.flatMap(({ http, worker }) => (worker ? [http, worker] : [http]))
    const bugs = daemons.flatMap(({ name, logFile }) =>
      [...readFileSync(logFile, 'utf8').matchAll(/^.*"msg":"bug".*$/gm)].map(([line]) => `${name}: ${line}`),
    )
    return [...daemons.flatMap(({ crashes }) => crashes), ...bugs]
  }

  #withRole(role: Member['role']): Promise<ClusterNode> {
    return until(`a ${role}`, async () => {
      const found = (await this.#members()).find((member) => member.role === role)
      return found && this.nodes.find(({ database }) => database.name === found.name)
    })
  }

  /** A node that is cut off has an old list, so the list of the majority counts. */
  async #members(): Promise<Member[]> {
    const lists = await Promise.all(
      this.nodes.map(({ database }) => database.members().catch(() => undefined)),
    )
    const found = lists.find((list) => list?.some(({ role }) => role === 'leader'))
    if (!found) throw new Error(`no leader: ${JSON.stringify(lists)}`)
    return found
  }

  async #waitUntilReplicated(): Promise<ClusterNode> {
    await until('a leader and two standbys', async () => {
      const members = await this.#members()
      const isComplete =
        members.length === this.nodes.length &&
        members.every(({ state, lag }) => /running|streaming/.test(state) && !lag) &&
        members.some(({ role }) => role === 'sync_standby')
      if (!isComplete) throw new Error(JSON.stringify(members))
      return true
    })
    return this.leader()
  }
}

const isReady = async (url: string): Promise<boolean> => (await askJson(`${url}/health/ready`)).status === 200

async function createDatabase(address: string): Promise<void> {
  const sql = connectSql(superuserUrl(address))
  await sql.run(`create role jeton login password 'jeton'`)
  await sql.run('create database jeton owner jeton')
  await sql.end()
}
