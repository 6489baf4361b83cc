import { spawn } from 'node:child_process'
import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from './free-port.ts'
import { accepting, ended, isInstalled, WATCH } from './proxy.ts'

/** PgBouncer refuses to run as root. */
const NOBODY = 65_534
const IDENTITY = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}

export const HAS_PGBOUNCER = isInstalled('pgbouncer')
export const NO_PGBOUNCER = ' (skipped: PgBouncer is not installed, apt-get install -y pgbouncer)'

export interface PgBouncer {
  url(database?: string): string
  stop(): Promise<void>
}

/** Starts PgBouncer in front of a PostgreSQL, with its default settings except for the given ones. */
export async function startPgBouncer(
  server: { readonly port: number },
  settings: Readonly<Record<string, string>>,
): Promise<PgBouncer> {
  const folder = mkdtempSync(join(tmpdir(), 'jeton-pgbouncer-'))
  const port = await freePort()
  const own = {
    listen_addr: '127.0.0.1',
    listen_port: port,
    unix_socket_dir: '',
    auth_type: 'any',
    ...settings,
  }
  const lines = Object.entries(own).map(([name, value]) => `${name} = ${value}`)
  const file = join(folder, 'pgbouncer.ini')
  const databases = `[databases]\n* = host=127.0.0.1 port=${server.port} user=jeton\n`
  writeFileSync(file, `${databases}[pgbouncer]\n${lines.join('\n')}\n`)
  if (IDENTITY.uid) for (const path of [folder, file]) chownSync(path, NOBODY, NOBODY)
  const child = spawn('sh', ['-c', WATCH, 'sh', 'pgbouncer', '-q', file], {
    ...IDENTITY,
    env: { PATH: `${process.env.PATH}:/usr/sbin` },
    stdio: ['pipe', 'ignore', 'pipe'],
  })
  let said = ''
  child.stderr!.on('data', (chunk: Buffer) => (said = (said + chunk).slice(-4_000)))
  await accepting(port, () => said)
  return {
    url: (database = 'postgres') => `postgres://jeton@127.0.0.1:${port}/${database}`,
    async stop() {
      await ended(child)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
