import { readFileSync } from 'node:fs'
import type { Sql } from '../server/test/sql.ts'

/** The process that all others of the server belong to; it runs on this machine. */
export async function postmasterOf(sql: Sql): Promise<number> {
  const [row] = await sql<{ pid: number }>`select pg_backend_pid() as pid`
  return Number(/^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${row!.pid}/status`, 'utf8'))![1])
}
