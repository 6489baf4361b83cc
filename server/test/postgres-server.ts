import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { chmodSync, chownSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { freePort } from './free-port.ts'
import { openToEveryone, postgresBinaries } from './postgres-binaries.ts'

/** PostgreSQL refuses to run as root; `nobody` is there on every machine. */
const NOBODY = 65_534
const AS_ROOT = process.getuid?.() === 0
const IDENTITY = AS_ROOT ? { uid: NOBODY, gid: NOBODY } : {}
const START_WITHIN_MS = 60_000
/** After a kill the old children must have noticed before the data can be opened again. */
const START_TRIES = 100

export interface PostgresServer {
  readonly port: number
  /** Folder of its data. */
  readonly data: string
  /** Address of a database in it. */
  url(database?: string): string
  /** On the same port, with the same data; `settings` come on top, for this run. */
  start(settings?: readonly string[]): Promise<void>
  /** Cuts the connections, rolls back what is open, writes everything down. */
  stop(): Promise<void>
  /** Like a power cut for the process: no goodbye, and recovery at the next start. */
  kill(): Promise<void>
  restart(): Promise<void>
  /** Throws its data away and begins again as a copy of another server, which is stopped meanwhile; starts nothing. */
  becomeStandbyOf(primary: PostgresServer): void
  /** Ends the recovery of a standby: it takes writes from now on. */
  promote(): void
  /** Stops it for good and removes the data. */
  remove(): Promise<void>
}

interface Options {
  /** Waits for the disk at every commit, and has the memory that it gives itself. Most tests need not survive a power cut of the machine. */
  readonly durable?: boolean
}

function makeFolder(): string {
  const places = [tmpdir(), '/tmp', '/var/tmp']
  const place = AS_ROOT ? (places.find(openToEveryone) ?? tmpdir()) : tmpdir()
  const folder = mkdtempSync(join(place, 'jeton-postgres-'))
  if (AS_ROOT) chownSync(folder, NOBODY, NOBODY)
  return folder
}

function initialise(binaries: string, data: string): void {
  // A language's order of text, as real installations have it: what relies on the order of bytes shall fail here.
  const locale = ['--locale=C', '--locale-provider=icu', '--icu-locale=en-US']
  const flags = ['-D', data, '-U', 'jeton', '-A', 'trust', '-E', 'UTF8', '--no-sync', ...locale]
  const { status, stderr, error } = spawnSync(join(binaries, 'bin', 'initdb'), flags, {
    ...IDENTITY,
    cwd: '/',
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`initdb failed: ${error?.message ?? stderr}`)
}

function launch(binaries: string, data: string, settings: readonly string[]): ChildProcess {
  const flags = ['-D', data, ...settings.flatMap((setting) => ['-c', setting])]
  return spawn(join(binaries, 'bin', 'postgres'), flags, {
    ...IDENTITY,
    cwd: '/',
    stdio: ['ignore', 'ignore', 'pipe'],
  })
}

/** Resolves once it accepts connections; rejects with what it said if it ends before. */
function ready(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let said = ''
    const late = setTimeout(() => reject(new Error(`PostgreSQL did not start: ${said}`)), START_WITHIN_MS)
    child.on('error', reject)
    child.once('exit', () => reject(new Error(`PostgreSQL ended: ${said}`)))
    // It goes on being read after that: a full pipe would stop the server.
    child.stderr!.on('data', (chunk: Buffer) => {
      said = (said + chunk).slice(-4_000)
      if (!/ready to accept (read-only )?connections/.test(said)) return
      clearTimeout(late)
      resolve()
    })
  })
}

/** A cold copy, since the binaries bring no `pg_basebackup`. */
function copyAsStandby(from: PostgresServer, data: string): void {
  rmSync(data, { recursive: true, force: true })
  cpSync(from.data, data, { recursive: true, preserveTimestamps: true })
  chmodSync(data, 0o700)
  writeFileSync(join(data, 'standby.signal'), '')
  if (AS_ROOT) spawnSync('chown', ['-R', `${NOBODY}:${NOBODY}`, data])
}

function gone(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve()
  return new Promise((resolve) => child.once('exit', () => resolve()))
}

/** Where the system tells; elsewhere they notice by themselves. */
function childrenOf(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
  } catch {
    return []
  }
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended meanwhile.
  }
}

/** Reads process ids, an empty line for "none runs"; cleans up when the other end of the pipe is gone. */
const WATCH = `
while read -r line; do pid=$line; done
if [ -n "$pid" ]; then kill -QUIT "$pid"; while kill -0 "$pid" 2>/dev/null; do sleep 0.05; done; fi
rm -rf "$1"
`

/**
 * Stops the server and removes its folder once this process is gone, however it ended: an interrupted test run, or a
 * worker that was killed, has no chance to do it. In a session of its own, so that Ctrl-C does not reach it.
 */
function createWatch(folder: string) {
  const watch = spawn('sh', ['-c', WATCH, 'watch', folder], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
  watch.unref()
  return {
    runs: (pid: number | undefined) => void watch.stdin!.write(`${pid ?? ''}\n`),
    cleanUp() {
      watch.stdin!.end()
      return gone(watch)
    },
  }
}

export async function startPostgres(options: Options = {}): Promise<PostgresServer> {
  const folder = makeFolder()
  const watch = createWatch(folder)
  const data = join(folder, 'data')
  const binaries = postgresBinaries(join(folder, 'native'), AS_ROOT)
  initialise(binaries, data)
  const port = await freePort()
  const settings = [
    `port=${port}`,
    'listen_addresses=127.0.0.1',
    'unix_socket_directories=',
    'max_connections=200',
    ...(options.durable ? [] : ['fsync=off', 'full_page_writes=off', 'shared_buffers=32MB']),
  ]
  let child: ChildProcess | undefined

  /** Set where it follows another: remembered, so that it goes on doing so after a restart until it is promoted. */
  let following: readonly string[] = []

  async function start(extra: readonly string[] = []): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      child = launch(binaries, data, [...settings, ...following, ...extra])
      watch.runs(child.pid)
      try {
        return await ready(child)
      } catch (error) {
        if (attempt === START_TRIES || !String(error).includes('still in use')) throw error
        await wait(100)
      }
    }
  }

  /** Its children as well: they live on for a moment, and may even commit, until they notice. */
  async function killAll(): Promise<void> {
    const children = child?.pid ? childrenOf(child.pid) : []
    child?.kill('SIGKILL')
    for (const pid of children) killIfThere(pid)
    await end('SIGKILL')
  }

  async function end(signal: NodeJS.Signals): Promise<void> {
    child?.kill(signal)
    if (child) await gone(child)
    watch.runs(undefined)
  }

  await start()
  return {
    port,
    data,
    becomeStandbyOf(primary) {
      copyAsStandby(primary, data)
      following = [`primary_conninfo=host=127.0.0.1 port=${primary.port} user=jeton application_name=standby`]
    },
    promote() {
      const flags = ['promote', '-D', data, '-w', '-t', '60']
      const { status, stderr } = spawnSync(join(binaries, 'bin', 'pg_ctl'), flags, {
        ...IDENTITY,
        cwd: '/',
        encoding: 'utf8',
      })
      if (status !== 0) throw new Error(`pg_ctl promote failed: ${stderr}`)
      following = []
    },
    url: (database = 'postgres') => `postgres://jeton@127.0.0.1:${port}/${database}`,
    start,
    stop: () => end('SIGINT'),
    kill: killAll,
    async restart() {
      await end('SIGINT')
      await start()
    },
    async remove() {
      await end('SIGINT')
      await watch.cleanUp()
    },
  }
}
