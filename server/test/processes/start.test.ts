import { spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { copyFileSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from 'vitest'
import { BINARY, makeHome, type Running, runBinary, sampleKeyIn, serveBinary } from '../binary.ts'
import { clientOf, OPERATOR, send } from '../service.ts'
import { connectSql, type Sql } from '../sql.ts'

const SECRET = /jt[amn]_[\w-]{8,}/

/** Credentials that the store has to be asked about. */
const WRONG = { 'x-management-id': 'nobody', 'x-management-token': 'wrong' }

const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

function newHome(): string {
  const { folder, remove } = makeHome()
  cleanUps.push(remove)
  return folder
}

const killedAtTheEnd = <R extends Running>(running: R): R => {
  cleanUps.push(() => running.stop('SIGKILL'))
  return running
}

const start = async (home: string, env: Record<string, string> = {}) =>
  killedAtTheEnd(await serveBinary({ home, env }))

/** Runs a service that cannot start. Returns its exit code and its one line. */
async function failToStart(home: string, env: Record<string, string>) {
  const running = killedAtTheEnd(runBinary({ home, env }))
  const code = await running.ended
  return { code, stdout: running.stdout(), stderr: running.stderr() }
}

async function newDatabase(): Promise<{ name: string; url: string }> {
  const name = `start_${randomBytes(6).toString('hex')}`
  await administer((sql) => sql.run(`create database ${name}`))
  cleanUps.push(() => administer((sql) => sql.run(`drop database if exists ${name} with (force)`)))
  return { name, url: new URL(`/${name}`, inject('postgresUrl')).href }
}

async function administer<T>(work: (sql: Sql) => Promise<T>, url = inject('postgresUrl')): Promise<T> {
  const sql = connectSql(url)
  try {
    return await work(sql)
  } finally {
    await sql.end()
  }
}

describe('the first start in an empty folder', () => {
  test('the first start shows what it created, and the command that it suggests gets a token', async () => {
    const home = newHome()
    const running = await start(home)
    await running.printed(/Ctrl-C/)
    const printed = running.stdout()
    const command = printed.slice(printed.indexOf('curl'), printed.indexOf('\n\n', printed.indexOf('curl')))
    const { stdout, status } = spawnSync('sh', ['-c', command], { encoding: 'utf8' })
    expect(status).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({
      token_type: 'Bearer',
      expires_in: 900,
      scope: 'loyalties rewards',
    })
    expect(running.stderr()).toBe('')
    expect(await running.stop()).toBe(0)
  })

  test('the first start shows at most 80 columns except for paths, no colour, and no `curl` before step 1', async () => {
    const running = await start(newHome())
    await running.printed(/Ctrl-C/)
    const printed = running.stdout()
    for (const line of printed.split('\n'))
      if (!line.includes('sample-app-token')) expect(line.length, line).toBeLessThanOrEqual(80)
    expect(printed).not.toMatch(/\u001b/)
    expect(printed.slice(0, printed.indexOf('curl'))).toMatch(/1 {2}Issue a token/)
    expect(printed).toContain(`reference   ${running.url}/docs`)
    expect((await send(`${running.url}/docs`)).status).toBe(200)
  })

  test('the first start stores the operator credential and the data readable by its user only', async () => {
    const home = newHome()
    const running = await start(home)
    await running.printed(/Ctrl-C/)
    const file = join(home, '.config', 'jeton', 'config.json')
    const mode = (path: string) => (statSync(path).mode & 0o777).toString(8)
    expect([mode(file), mode(join(home, '.config', 'jeton')), mode(join(home, 'data'))]).toEqual([
      '600',
      '700',
      '700',
    ])
    const profile = JSON.parse(readFileSync(file, 'utf8')).servers[running.url]
    const headers = {
      'x-management-id': profile.management_id,
      'x-management-token': profile.management_token,
    }
    const projects = await send(`${running.url}/management/v1/projects`, { headers })
    expect(projects.body.data).toMatchObject([{ name: 'Sample', id: profile.project }])
    expect(running.stdout()).toContain('~/.config/jeton/config.json')
  })

  test('the second start shows no secret and continues with the same data', async () => {
    const home = newHome()
    const first = await start(home)
    await first.printed(/Ctrl-C/)
    const { appId, appToken } = sampleKeyIn(first.stdout())
    const issued = await clientOf(first.url).issue({ appId, appToken }, 'rewards')
    const profile = readFileSync(join(home, '.config', 'jeton', 'config.json'), 'utf8')
    await first.stop()

    const second = await start(home)
    await second.printed(/Ctrl-C/)
    expect(second.stdout()).not.toMatch(SECRET)
    expect(second.stdout()).toContain('1 project, 1 key, 1 active token')
    expect(second.stdout()).not.toMatch(/created now|Shown once|curl/)
    expect(second.stdout()).toContain('jeton help key regenerate')
    for (const line of second.stdout().split('\n')) expect(line.length, line).toBeLessThanOrEqual(80)
    const asked = await clientOf(second.url).introspect({ appId, appToken }, issued.body.access_token)
    expect(asked.body.active).toBe(true)
    expect(readFileSync(join(home, '.config', 'jeton', 'config.json'), 'utf8')).toBe(profile)
    await second.stop('SIGINT')
    expect(await second.ended).toBe(0)
  })

  test('a first start that fails for a port in use creates no secret, and the next start shows it', async () => {
    const home = newHome()
    const holder = createServer()
    await new Promise<void>((resolve) => holder.listen(0, '127.0.0.1', resolve))
    cleanUps.push(() => holder.close())
    const { port } = holder.address() as { port: number }
    const failed = await failToStart(home, { JETON_PORT: String(port) })
    expect([failed.code, failed.stdout]).toEqual([78, ''])
    expect(failed.stderr).toMatch(
      new RegExp(`^Port ${port} is taken.*Use another: JETON_PORT=${port + 1} npm start\\n$`),
    )
    const next = await start(home)
    await next.printed(/Ctrl-C/)
    expect(sampleKeyIn(next.stdout()).appToken).toMatch(SECRET)
    expect(JSON.parse(readFileSync(join(home, '.config', 'jeton', 'config.json'), 'utf8')).default).toBe(
      next.url,
    )
  })

  test('the first start creates no sample if it is off, and no operator if the settings name one', async () => {
    const home = newHome()
    const operator = { JETON_MANAGEMENT_ID: OPERATOR.id, JETON_MANAGEMENT_TOKEN: OPERATOR.token }
    const running = await start(home, { ...operator, JETON_SAMPLE: 'off' })
    await running.printed(/Ctrl-C/)
    expect(running.stdout()).not.toMatch(SECRET)
    expect(running.stdout()).not.toContain(OPERATOR.token)
    const client = clientOf(running.url)
    expect((await client.manage('GET', '/projects')).body.total).toBe(0)
    expect((await client.manage('GET', '/operators')).body.data).toMatchObject([{ id: OPERATOR.id }])
    expect(() => statSync(join(home, '.config'))).toThrow('ENOENT')
  })
})

describe('on any address but loopback, or against PostgreSQL', () => {
  const ready = (running: Running) => running.printed(/"msg":"ready"/)

  test('a start for production creates no sample, operator or secret, and logs JSON lines', async () => {
    const home = newHome()
    const { url } = await newDatabase()
    const runs = await Promise.all([
      start(home, { JETON_HOST: '0.0.0.0' }),
      start(home, { JETON_DATABASE_URL: url }),
    ])
    for (const running of runs) {
      await ready(running)
      expect(running.stdout()).not.toMatch(SECRET)
      const lines = running
        .stdout()
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
      expect(lines[0]).toMatchObject({
        level: 'info',
        msg: 'ready',
        store: expect.stringMatching(/^(SQLite|PostgreSQL) /),
      })
      expect(lines.map(({ level }) => level)).not.toContain('error')
      const answer = await send(`${running.url.replace('0.0.0.0', '127.0.0.1')}/management/v1/projects`)
      expect(answer.status).toBe(401)
      expect(() => statSync(join(home, '.config'))).toThrow('ENOENT')
    }
    const tables = await administer(
      (sql) =>
        sql`select (select count(*) from operators) as operators, (select count(*) from projects) as projects`,
      url,
    )
    expect(tables[0]).toEqual({ operators: '0', projects: '0' })
  })

  test('a connection to PostgreSQL that is reset while it opens does not end the process, and the service resumes', async () => {
    const target = new URL((await newDatabase()).url)
    const port = Number(target.port)
    const open = new Set<Socket>()
    let [cutting, cuts] = [false, 0]
    const between = createServer((client) => {
      const server = connect(port, target.hostname)
      for (const socket of [client, server]) open.add(socket.on('error', () => undefined))
      server.pipe(client).on('close', () => server.destroy())
      client.on('data', (chunk) => {
        // Our own first statement on a connection.
        const cut = cutting && chunk.includes('pg_is_in_recovery')
        if (!cut) return server.write(chunk)
        cuts++
        client.destroy()
      })
      server.on('close', () => client.destroy())
    })
    await new Promise<void>((resolve) => between.listen(0, '127.0.0.1', resolve))
    cleanUps.push(() => between.close())
    target.port = String((between.address() as AddressInfo).port)
    const running = await start(newHome(), { JETON_DATABASE_URL: target.href })
    await running.printed(/JETON_PUBLIC_URL/)
    cutting = true
    for (const socket of open) socket.destroy()
    await expect.poll(() => cuts).toBeGreaterThan(0)
    expect((await send(`${running.url}/health/live`)).status).toBe(200)
    cutting = false
    const served = async () =>
      (await send(`${running.url}/management/v1/projects`, { headers: WRONG })).status
    await expect.poll(served).toBe(401)
    expect([running.child.exitCode, running.stderr()]).toEqual([null, ''])
  })

  test('ten processes that start at once on one empty PostgreSQL migrate it once, and all ten serve', async () => {
    const home = newHome()
    const { url } = await newDatabase()
    const env = {
      JETON_DATABASE_URL: url,
      JETON_DATABASE_POOL: '2',
      JETON_MANAGEMENT_ID: OPERATOR.id,
      JETON_MANAGEMENT_TOKEN: OPERATOR.token,
    }
    const runs = await Promise.all(Array.from({ length: 10 }, () => start(home, env)))
    await Promise.all(runs.map(ready))
    const readies = runs.map((running) => JSON.parse(running.stdout().split('\n')[0]!))
    expect(readies.filter(({ applied_now }) => applied_now > 0)).toHaveLength(1)
    const health = await Promise.all(
      runs.map(async (running) => (await send(`${running.url}/health/ready`)).status),
    )
    expect(health).toEqual(new Array(10).fill(200))
    const [first, last] = [clientOf(runs[0]!.url), clientOf(runs[9]!.url)]
    const key = await first.key((await first.project('Shared')).id)
    const { body } = await last.issue(key)
    expect((await first.introspect(key, body.access_token)).body.active).toBe(true)
    expect((await last.manage('GET', '/operators')).body.total).toBe(1)
    expect((await last.manage('GET', '/audit-log?action=operator.created')).body.total).toBe(1)
    expect(await Promise.all(runs.map((running) => running.stop()))).toEqual(new Array(10).fill(0))
    for (const running of runs) expect(running.stderr()).toBe('')
  })
})

describe('a failed start prints one line with the fix, and an exit code for supervisors', () => {
  const PASSWORD = 'pass-word-of-the-database'
  let guardedRole = ''
  let unreachable: Running
  let began = 0
  let endedAt = 0
  const home = makeHome()
  afterAll(home.remove)

  beforeAll(async () => {
    // It is slow, so it runs beside the others.
    began = performance.now()
    unreachable = runBinary({
      home: home.folder,
      env: { JETON_DATABASE_URL: `postgres://jeton:${PASSWORD}@127.0.0.1:1/jeton` },
    })
    void unreachable.ended.then(() => (endedAt = performance.now()))
    guardedRole = `guarded_${randomBytes(4).toString('hex')}`
    await administer(async (sql) => {
      await sql.run(`create role ${guardedRole} login password '${PASSWORD}'`)
      // Everyone else is trusted, as before; this role has to prove itself.
      const lines = `(values (1, 'host all ${guardedRole} all scram-sha-256'), (2, 'host all all all trust')) as lines (n, line)`
      const [shown] = await sql<{ hba_file: string }>`show hba_file`
      await sql.run(`copy (select line from ${lines} order by n) to '${shown!.hba_file}'`)
      await sql`select pg_reload_conf()`
    })
  })

  const at = (path: string, user?: string) => {
    const url = new URL(path, inject('postgresUrl'))
    if (user) [url.username, url.password] = user.split(':') as [string, string]
    return url.href
  }

  const cases: [string, number, RegExp, (home: string) => Record<string, string>][] = [
    [
      'a setting with a wrong value',
      78,
      /^JETON_PORT: "eighty" is not a whole number from 0 to 65535\.$/,
      () => ({ JETON_PORT: 'eighty' }),
    ],
    [
      'a misspelt setting',
      78,
      /^JETON_TRUSTED_PROXY is not a setting\. Did you mean JETON_TRUSTED_PROXIES\?$/,
      () => ({ JETON_TRUSTED_PROXY: '' }),
    ],
    [
      'an address that this machine has not',
      78,
      /^JETON_HOST: this machine has no address 192\.0\.2\.1\. Use 127\.0\.0\.1/,
      () => ({ JETON_HOST: '192.0.2.1' }),
    ],
    [
      'a folder that cannot be made',
      78,
      /^Cannot write \.\/file\/data.*JETON_DATA_DIR=/,
      (home) => {
        writeFileSync(join(home, 'file'), '')
        return { JETON_DATA_DIR: './file/data' }
      },
    ],
    [
      'a file that is no database of ours',
      78,
      /^Cannot open \.\/data\/jeton\.db: .*JETON_DATA_DIR=/,
      (home) => {
        mkdirSync(join(home, 'data'))
        writeFileSync(join(home, 'data', 'jeton.db'), 'this is a letter, not a database. '.repeat(50))
        return {}
      },
    ],
    [
      'a wrong password',
      78,
      /^PostgreSQL 127\.0\.0\.1:\d+\/postgres: it refused the user or the password\. Check JETON_DATABASE_URL\.$/,
      () => ({ JETON_DATABASE_URL: at('/postgres', `${guardedRole}:wrong-${PASSWORD}`) }),
    ],
    [
      'a missing password',
      78,
      /: it refused the user or the password\. Check JETON_DATABASE_URL\.$/,
      () => ({ JETON_DATABASE_URL: at('/postgres', `${guardedRole}:`) }),
    ],
    [
      'an unknown user',
      78,
      /: it refused the user\. Check JETON_DATABASE_URL\.$/,
      () => ({ JETON_DATABASE_URL: at('/postgres', `nobody:${PASSWORD}`) }),
    ],
    [
      'an unknown database',
      78,
      /\/nowhere: there is no such database\. Check JETON_DATABASE_URL\.$/,
      () => ({ JETON_DATABASE_URL: at('/nowhere', `jeton:${PASSWORD}`) }),
    ],
  ]

  test.each(cases)('%s: exit code %i', async (_, code, line, prepare) => {
    const home = newHome()
    const failed = await failToStart(home, prepare(home))
    expect(failed.stderr.split('\n')).toEqual([expect.stringMatching(line), ''])
    expect([failed.code, failed.stdout]).toEqual([code, ''])
    expect(failed.stderr).not.toContain(PASSWORD)
  })

  test('a start with the right password succeeds', async () => {
    const { name } = await newDatabase()
    await administer((sql) => sql.run(`grant all on schema public to ${guardedRole}`), at(`/${name}`))
    const running = await start(newHome(), {
      JETON_DATABASE_URL: at(`/${name}`, `${guardedRole}:${PASSWORD}`),
    })
    await running.printed(/"msg":"ready"/)
    expect(running.stdout()).not.toContain(PASSWORD)
  })

  test('a start without PostgreSQL tries five times in 8 s, then ends with exit code 75, which supervisors may retry', async () => {
    expect(await unreachable.ended).toBe(75)
    expect(unreachable.stderr().split('\n')).toEqual([
      expect.stringMatching(
        /^Cannot reach PostgreSQL 127\.0\.0\.1:1\/jeton: .*\(tried 5 times in 8 s\)\. Check JETON_DATABASE_URL\.$/,
      ),
      '',
    ])
    expect(unreachable.stdout() + unreachable.stderr()).not.toContain(PASSWORD)
    expect(endedAt - began).toBeGreaterThan(8_000)
  })

  test('a start on a port of another Jeton names the process that uses it, if the system tells', async () => {
    const home = newHome()
    const running = await start(home)
    const { port } = new URL(running.url)
    const failed = await failToStart(newHome(), { JETON_PORT: port })
    expect([failed.code, failed.stdout]).toEqual([78, ''])
    const holder = process.platform === 'linux' ? ` by pid ${running.child.pid} \\(.+\\)` : '.*'
    expect(failed.stderr).toMatch(
      new RegExp(`^Port ${port} is taken${holder}\\. Use another: JETON_PORT=\\d+ npm start\\n$`),
    )
  })
})

describe('the launcher', () => {
  /** How a process was started, as Linux reports it. */
  const startedWith = ({ child }: Running) => readFileSync(`/proc/${child.pid}/cmdline`, 'utf8').split('\0')

  test.runIf(process.platform === 'linux')(
    'the launcher sets the measured memory flags in the same process',
    async () => {
      const running = await start(newHome())
      expect(startedWith(running)).toEqual(
        expect.arrayContaining(['--max-semi-space-size=8', '--no-allocation-site-pretenuring', 'serve']),
      )
    },
  )

  test.runIf(process.platform === 'linux')('the launcher leaves memory flags of the user alone', async () => {
    const running = await start(newHome(), { NODE_OPTIONS: '--max-semi-space-size=32' })
    expect(startedWith(running).join(' ')).not.toContain('semi-space')
  })

  /** Simulates an old Node: the program reads only its version. */
  const asNode = (version: string) => [
    '--import',
    `data:text/javascript,${encodeURIComponent(`Object.defineProperty(process.versions, 'node', { value: '${version}' })`)}`,
  ]

  /** The launcher beside a program that only prints that it runs. */
  function install({ withNode }: { withNode: boolean }): string {
    const folder = newHome()
    mkdirSync(join(folder, 'server', 'bin'), { recursive: true })
    mkdirSync(join(folder, 'server', 'dist'))
    mkdirSync(join(folder, 'node_modules', '.bin'), { recursive: true })
    const launcher = join(folder, 'server', 'bin', 'jeton.js')
    copyFileSync(BINARY, launcher)
    writeFileSync(join(folder, 'server', 'package.json'), '{"type":"module"}')
    const program = `
      process.on('SIGTERM', () => process.exit(7))
      process.stdout.write(JSON.stringify(process.argv.slice(2)) + '\\n')
      if (process.argv[2] === 'wait') setInterval(() => undefined, 1000)
      else process.exitCode = 42`
    writeFileSync(join(folder, 'server', 'dist', 'main.js'), program)
    if (withNode) symlinkSync(process.execPath, join(folder, 'node_modules', '.bin', 'node'))
    return launcher
  }

  test('the launcher under an old Node without a newer one says so in one line and ends with 78', () => {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [...asNode('20.20.2'), install({ withNode: false }), 'serve'],
      { encoding: 'utf8' },
    )
    expect([status, stdout]).toEqual([78, ''])
    expect(stderr).toBe('Jeton needs Node 24 or newer; this is 20.20.2. With npm: npx -p node@24 npm start\n')
  })

  test('the launcher under an old Node passes arguments, exit code and signals to the Node from npm', async () => {
    const launcher = install({ withNode: true })
    const told = spawnSync(process.execPath, [...asNode('20.20.2'), launcher, 'key', 'list', '--json'], {
      encoding: 'utf8',
    })
    expect([told.status, told.stdout, told.stderr]).toEqual([42, '["key","list","--json"]\n', ''])
    const child = spawn(process.execPath, [...asNode('20.20.2'), launcher, 'wait'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    cleanUps.push(() => child.kill('SIGKILL'))
    await new Promise((resolve) => child.stdout.once('data', resolve))
    child.kill('SIGTERM')
    expect(await new Promise((resolve) => child.once('exit', resolve))).toBe(7)
  })

  test('the launcher under a new Node runs the program in the same process', () => {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [install({ withNode: false }), 'a b', ''],
      { encoding: 'utf8' },
    )
    expect([status, stdout, stderr]).toEqual([42, '["a b",""]\n', ''])
  })

  test('the launcher runs from a folder with spaces and characters that URLs escape', () => {
    const launcher = install({ withNode: false })
    const odd = join(newHome(), 'a b%20c #d')
    mkdirSync(odd)
    symlinkSync(join(launcher, '..', '..'), join(odd, 'server'))
    const { status, stderr } = spawnSync(
      process.execPath,
      ['--preserve-symlinks', '--preserve-symlinks-main', join(odd, 'server', 'bin', 'jeton.js')],
      { encoding: 'utf8' },
    )
    expect([status, stderr]).toEqual([42, ''])
  })
})
