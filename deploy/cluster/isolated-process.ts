import { setTimeout as wait } from 'node:timers/promises'
import { clientOf, type Pair } from '../../server/test/service.ts'
import type { Cluster, ClusterNode } from './cluster.ts'
import { runOnNode } from './network.ts'
import { until } from './until.ts'

/** A process that cannot confirm the state of keys for so long stops reporting tokens as active. */
const STALE_AFTER_MS = 30_000
const GRACE_MS = 2_000

/** Posts a form and prints the status and the body. */
const ASK = `
const [url, form, id, token] = process.argv.slice(1)
const headers = { 'x-app-id': id, 'x-app-token': token }
fetch(url, { method: 'POST', headers, body: new URLSearchParams(form) })
  .then(async (answer) => console.log(JSON.stringify({ status: answer.status, body: await answer.text() })))`

interface Isolated {
  readonly node: ClusterNode
  readonly pair: Pair
}

/** Asks the Jeton process of a node from the node itself. */
async function ask(
  { node, pair }: Isolated,
  path: string,
  form: string,
): Promise<{ status: number; body: string }> {
  const args = ['-e', ASK, `${node.url}${path}`, form, pair.appId, pair.appToken]
  return JSON.parse(await runOnNode(node.database.name, [process.execPath, ...args]))
}

const isActive = ({ status, body }: { status: number; body: string }): boolean =>
  status === 200 && JSON.parse(body).active === true

/**
 * Cuts a node off, revokes a token on the other side, and asks the isolated process. It must issue no token, and must not
 * report the revoked token as active for longer than promised.
 */
export async function verifyIsolated(
  cluster: Cluster,
  isolated: Isolated,
  cut: () => Promise<void>,
): Promise<string[]> {
  const client = clientOf(cluster.url)
  const { body } = await client.issue(isolated.pair)
  const token = `token=${body.access_token}`
  const wrong: string[] = []
  if (!isActive(await ask(isolated, '/v1/oauth/introspect', token)))
    wrong.push('isolated process: did not know an active token before the fault')
  await cut()
  await until('a revocation on the other side', async () => {
    const { status } = await client.form('/v1/oauth/revoke', { token: body.access_token }, isolated.pair)
    return status === 200
  })
  const revokedAt = performance.now()
  const issued = await ask(isolated, '/v1/oauth/token', 'grant_type=client_credentials&scope=vouchers')
  if (issued.status !== 503) wrong.push(`isolated process: issuing returned ${issued.status} ${issued.body}`)
  await wait(revokedAt + STALE_AFTER_MS + GRACE_MS - performance.now())
  if (isActive(await ask(isolated, '/v1/oauth/introspect', token)))
    wrong.push('isolated process: reports a token as active 32 s after its revocation')
  return wrong
}
