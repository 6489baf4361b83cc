import { setTimeout as wait } from 'node:timers/promises'
import type { Pair } from '../../server/test/service.ts'
import type { Cluster, ClusterNode } from './cluster.ts'
import { verifyIsolated } from './isolated-process.ts'
import { type Build, currentBuild } from './jeton-build.ts'
import { cutOff, reconnect } from './network.ts'

/** How long a killed process stays down after the cluster has recovered. */
const DOWN_MS = 5_000
/** Longer than ttl and loop_wait of Patroni together. */
const STANDBY_CUT_MS = 30_000

export interface Fault {
  readonly name: string
  /** Injects the fault and ends it. Returns what was wrong. */
  inject(cluster: Cluster, pair: Pair): Promise<string[]>
}

const nothingWrong = async (work: Promise<unknown>): Promise<string[]> => {
  await work
  return []
}

async function killLeader(cluster: Cluster): Promise<void> {
  const leader = await cluster.leader()
  await leader.database.killDatabase()
  await cluster.newLeader(leader)
  await wait(DOWN_MS)
  leader.database.patroni.start()
}

/** While the leader is cut off, the Jeton process beside it can reach only the former primary. */
async function cutOffLeader(cluster: Cluster, pair: Pair): Promise<string[]> {
  const leader = await cluster.leader()
  return verifyIsolated(cluster, { node: leader, pair }, async () => {
    cutOff(leader.database.name)
    await cluster.newLeader(leader)
  }).finally(() => reconnect(leader.database.name))
}

async function cutOffStandby(cluster: Cluster): Promise<void> {
  const { name } = (await cluster.synchronousStandby()).database
  cutOff(name)
  await wait(STANDBY_CUT_MS)
  reconnect(name)
}

async function killEtcdLeader(cluster: Cluster): Promise<void> {
  const { etcd } = (await cluster.etcdLeader()).database
  await etcd.stop('SIGKILL')
  await wait(DOWN_MS * 3)
  etcd.start()
}

async function switchOver(cluster: Cluster): Promise<void> {
  const [leader, standby] = [await cluster.leader(), await cluster.synchronousStandby()]
  await leader.database.switchOver(leader.database.name, standby.database.name)
  await cluster.newLeader(leader)
}

/** As a reboot: every process of the node stops in order and starts again. */
async function restart(cluster: Cluster, node: ClusterNode): Promise<void> {
  await Promise.all([node.http.stop(), node.worker?.stop()])
  await node.database.stop()
  await wait(DOWN_MS)
  node.database.start()
  await cluster.startJeton(node)
}

async function upgrade(cluster: Cluster, node: ClusterNode, build: Build): Promise<void> {
  await node.http.stop()
  await node.worker?.stop()
  node.http.replace(build(['serve', '--no-worker']))
  node.worker?.replace(build(['worker']))
  await cluster.startJeton(node)
}

const inTurn = async (cluster: Cluster, work: (node: ClusterNode) => Promise<void>): Promise<void> => {
  for (const node of cluster.nodes) {
    await work(node)
    await cluster.waitUntilHealthy()
  }
}

export const UPGRADE: Fault = {
  name: 'Jeton upgraded, one node after the other',
  inject: (cluster) => nothingWrong(inTurn(cluster, (node) => upgrade(cluster, node, currentBuild))),
}

/** The upgrade comes first, so that every other fault meets the current version. */
export const FAULTS: readonly Fault[] = [
  UPGRADE,
  { name: 'leader killed (Patroni and PostgreSQL)', inject: (cluster) => nothingWrong(killLeader(cluster)) },
  { name: 'leader cut off from the network', inject: cutOffLeader },
  {
    name: 'synchronous standby cut off from the network',
    inject: (cluster) => nothingWrong(cutOffStandby(cluster)),
  },
  { name: 'leader of etcd killed', inject: (cluster) => nothingWrong(killEtcdLeader(cluster)) },
  { name: 'switchover', inject: (cluster) => nothingWrong(switchOver(cluster)) },
  {
    name: 'nodes restarted, one after the other',
    inject: (cluster) => nothingWrong(inTurn(cluster, (node) => restart(cluster, node))),
  },
]
