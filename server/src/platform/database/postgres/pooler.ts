import type { Client } from 'pg'
import { StartFailure } from '../../start-failure.ts'
import type { Host } from './hosts.ts'

const ROUNDS = 3

type PooledClient = Client & { readonly target: Host }

/** Hosts whose pooler was found to pool by session. */
const sessionPoolers = new WeakSet<Host>()

/**
 * Refuses a pooler that gives a backend to another client after each transaction, such as PgBouncer with
 * `pool_mode = transaction`. Prepared statements, LISTEN and timeouts belong to a backend and would get lost.
 */
export async function requireSessionPooling(client: PooledClient, another: () => Client): Promise<void> {
  const { target } = client
  if (sessionPoolers.has(target)) return
  const other = another()
  try {
    await other.connect()
    if (await shareBackends(client, other)) throw refusal(target)
    sessionPoolers.add(target)
  } finally {
    void other.end().catch(() => undefined)
  }
}

async function backendOf(client: Client): Promise<number> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
  return rows[0]!.pid
}

/**
 * True if two idle clients use the same backend, or if one changes its backend. The clients take turns: a pooler that
 * reuses the last backend gives both the same one, and a pooler that rotates its backends gives one client several.
 */
async function shareBackends(one: Client, other: Client): Promise<boolean> {
  const [first, second] = [await backendOf(one), await backendOf(other)]
  if (first === second) return true
  for (let round = 0; round < ROUNDS; round++)
    if ((await backendOf(one)) !== first || (await backendOf(other)) !== second) return true
  return false
}

const refusal = ({ host, port }: Host): StartFailure =>
  new StartFailure(
    `JETON_DATABASE_URL: ${host}:${port} is a connection pooler in transaction mode, which Jeton does not support. Connect to PostgreSQL directly: Jeton has its own pool (JETON_DATABASE_POOL). With PgBouncer, pool_mode = session also works.`,
  )
