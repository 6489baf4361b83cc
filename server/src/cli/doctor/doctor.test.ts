import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { jeton, newFolder } from '../../../test/command-line.ts'
import { eachEngine } from '../../../test/engines.ts'
import { startService } from '../../../test/service.ts'
import { checkEncryption } from '../../app/checks/check-files.ts'
import { checkProcesses } from '../../app/checks/check-store.ts'
import type { Finding } from '../../app/checks/finding.ts'
import { systemClock } from '../../platform/clock.ts'
import { readConfig } from '../../platform/config/index.ts'

let folder: string
beforeEach(() => (folder = newFolder('doctor')))
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const settings = (more: Record<string, string> = {}) => ({
  XDG_CONFIG_HOME: folder,
  JETON_PORT: '0',
  JETON_DATA_DIR: join(folder, 'data'),
  ...more,
})

async function examine(env: Record<string, string>, ...flags: string[]) {
  const { code, out } = await jeton(['doctor', '--json', ...flags], { env })
  const { ok, checks } = JSON.parse(out) as { ok: boolean; checks: Finding[] }
  return { code, ok, of: (name: string) => checks.find((check) => check.name === name) }
}

test('before the first start every check passes, and nothing is created', async () => {
  const { code, ok, of } = await examine(settings())
  expect({ code, ok }).toEqual({ code: 0, ok: true })
  expect(of('store')?.says).toContain('does not exist yet')
  expect(of('operator')?.says).toContain('the first start creates one')
  expect(readdirSync(folder)).toEqual([])
})

test('migrate --plan creates nothing, and migrate applies what it listed', async () => {
  const env = settings()
  const planned = JSON.parse((await jeton(['migrate', '--plan', '--json'], { env })).out)
  expect(existsSync(env.JETON_DATA_DIR)).toBe(false)
  const applied = JSON.parse((await jeton(['migrate', '--json'], { env })).out)
  expect(applied.applied).toEqual(planned.applied)
  expect((await jeton(['migrate', '--plan'], { env })).out).toContain('is up to date')
  expect((await examine(env)).of('migrations')?.result).toBe('ok')
})

test('each line is a check mark, or a cross with the command that fixes it', async () => {
  mkdirSync(join(folder, 'data'), { mode: 0o755 })
  chmodSync(join(folder, 'data'), 0o755)
  const { code, out } = await jeton(['doctor'], { env: settings() })
  expect(code).toBe(78)
  expect(out).toMatch(/^✓ settings/m)
  expect(out).toMatch(/^✗ data folder .* accessible to every user.*\n {2}→ chmod 700 /m)
})

describe('the doctor finds', () => {
  test('a key file that others can read', async () => {
    const env = settings()
    mkdirSync(env.JETON_DATA_DIR, { mode: 0o700 })
    expect((await examine(env)).of('encryption')).toMatchObject({ result: 'ok' })
    const file = join(env.JETON_DATA_DIR, 'encryption.key')
    writeFileSync(file, Buffer.alloc(32).toString('base64'))
    chmodSync(file, 0o644)
    expect((await examine(env)).of('encryption')).toMatchObject({ result: 'failed', do: `chmod 600 ${file}` })
    chmodSync(file, 0o600)
    expect((await examine(env)).of('encryption')).toMatchObject({ result: 'ok' })
  })

  test('a key file without a key', async () => {
    const env = settings()
    mkdirSync(env.JETON_DATA_DIR, { mode: 0o700 })
    writeFileSync(join(env.JETON_DATA_DIR, 'encryption.key'), 'x', { mode: 0o600 })
    expect((await examine(env)).of('encryption')).toMatchObject({
      result: 'failed',
      says: expect.stringContaining('does not contain 32 bytes'),
    })
  })

  test('PostgreSQL without an encryption key: a warning, and a failure with --production', () => {
    const env = { JETON_DATABASE_URL: 'postgres://127.0.0.1/none' }
    const key = Buffer.alloc(32).toString('base64')
    const check = (more: Record<string, string>, production: boolean, needed?: string[]) =>
      checkEncryption(readConfig({ ...env, ...more }), { production, needed })
    const lacking = { says: expect.stringContaining('webhooks cannot be created') }
    expect(check({}, false, [])).toMatchObject({ result: 'warning', ...lacking })
    expect(check({}, true, [])).toMatchObject({ result: 'failed', ...lacking })
    expect(check({}, true)).toMatchObject({ result: 'unknown', says: expect.stringContaining('unknown') })
    expect(check({ JETON_ENCRYPTION_KEY: key }, true, [])).toMatchObject({ result: 'ok' })
  })

  test('an invalid setting, and runs no further checks', async () => {
    const { code, of } = await examine(settings({ JETON_TRUSTED_PROXIES: '10.0.0.0/33' }))
    expect(code).toBe(78)
    expect(of('settings')).toMatchObject({
      result: 'failed',
      says: expect.stringContaining('JETON_TRUSTED_PROXIES'),
    })
    expect(of('store')).toBeUndefined()
  })

  test('a file that is not a database', async () => {
    mkdirSync(join(folder, 'data'), { mode: 0o700 })
    writeFileSync(
      join(folder, 'data', 'jeton.db'),
      'this is not a database, and long enough to be recognized as such',
    )
    expect((await examine(settings())).of('store')).toMatchObject({ result: 'failed' })
  })

  test('a store without an operator, and names the command that creates one', async () => {
    const env = settings()
    await jeton(['migrate'], { env })
    expect((await examine(env)).of('operator')).toMatchObject({
      result: 'failed',
      do: expect.stringContaining('jeton operator create --local'),
    })
    await jeton(['operator', 'create', '--local'], { env })
    expect((await examine(env)).of('operator')?.result).toBe('ok')
  })

  test('more processes than CPUs, and suggests more if CPUs are unused', () => {
    const onPostgres = { JETON_DATABASE_URL: 'postgres://127.0.0.1/none' }
    const workers = (count: string, processors: number, env: object = onPostgres) =>
      checkProcesses(readConfig({ ...env, JETON_WORKERS: count }), processors)
    expect(workers('4', 2)).toMatchObject({ result: 'warning', do: 'JETON_WORKERS=2' })
    expect(workers('2', 2)).toMatchObject({ result: 'ok', says: '2 processes on one port, 2 CPUs' })
    expect(workers('1', 8).says).toBe('one process; JETON_WORKERS=8 would use all 8 CPUs')
    expect(workers('1', 1).says).toBe('one process')
    // SQLite has one writer, so more processes do not help.
    expect(workers('1', 8, {}).says).toBe('one process')
  })

  test('a profile that others can read', async () => {
    mkdirSync(join(folder, 'jeton'))
    writeFileSync(join(folder, 'jeton', 'config.json'), '{"servers":{}}')
    chmodSync(join(folder, 'jeton', 'config.json'), 0o644)
    expect((await examine(settings())).of('profile')).toMatchObject({
      result: 'failed',
      do: expect.stringContaining('chmod 600'),
    })
  })

  test('proxies that are missing or trusted too widely, as a warning', async () => {
    const open = await examine(
      settings({ JETON_HOST: '0.0.0.0', JETON_MANAGEMENT_ID: 'x', JETON_MANAGEMENT_TOKEN: 'y'.repeat(32) }),
    )
    expect(open.of('proxies')).toMatchObject({ result: 'warning' })
    expect(open.code).toBe(0)
    const everyone = settings({ JETON_TRUSTED_PROXIES: '10.0.0.0/8,0.0.0.0/0' })
    expect((await examine(everyone)).of('proxies')).toMatchObject({ result: 'warning' })
    expect((await examine(everyone, '--production')).of('proxies')).toMatchObject({ result: 'failed' })
  })

  test('a clock before the first release', async () => {
    const { out } = await jeton(['doctor', '--json'], { env: settings(), now: Date.UTC(1970, 0, 2) })
    expect(JSON.parse(out).checks).toContainEqual(
      expect.objectContaining({ name: 'clock', result: 'failed' }),
    )
  })
})

test('--production runs more checks', async () => {
  const laptop = await examine(settings({ JETON_HOST: '0.0.0.0', JETON_LOG_LEVEL: 'debug' }), '--production')
  for (const name of ['public url', 'management', 'log level']) expect(laptop.of(name)?.result).toBe('failed')
  expect(laptop.of('engine')?.result).toBe('warning')
  const ready = await examine(settings({ JETON_PUBLIC_URL: 'https://jeton.example' }), '--production')
  expect({ code: ready.code, ok: ready.ok }).toEqual({ code: 0, ok: true })
  // Checks that it cannot run are listed as unknown, not as passed.
  for (const name of ['backup', 'alerts']) expect(ready.of(name)?.result).toBe('unknown')
})

test('--production passes no check that it could not run: without a store, or with settings missing in this shell', async () => {
  const env = { XDG_CONFIG_HOME: folder, JETON_PORT: '0', JETON_DATA_DIR: join(folder, 'data') }
  const unseen = ['data folder', 'encryption', 'store', 'operator', 'operators', 'sample']
  const notSet = ['management', 'proxies', 'webhooks', 'log level', 'workers']
  const { of } = await examine(env, '--production')
  for (const name of [...unseen, ...notSet]) expect([name, of(name)?.result]).toEqual([name, 'unknown'])
  expect(of('webhooks')?.says).toContain('JETON_WEBHOOK_ALLOW not set in this shell')
  const given = await examine(
    {
      ...env,
      ...{ JETON_HOST: '127.0.0.1', JETON_TRUSTED_PROXIES: '', JETON_WEBHOOK_ALLOW: '' },
      ...{ JETON_LOG_LEVEL: 'info', JETON_WORKERS: '1' },
    },
    '--production',
  )
  for (const name of notSet) expect([name, given.of(name)?.result]).toEqual([name, 'ok'])

  mkdirSync(env.JETON_DATA_DIR, { mode: 0o700 })
  writeFileSync(
    join(env.JETON_DATA_DIR, 'jeton.db'),
    'this is not a database, and long enough to be recognized as such',
  )
  const broken = await examine(env, '--production')
  expect(broken.of('store')?.result).toBe('failed')
  for (const name of ['operators', 'sample']) expect(broken.of(name)?.result).toBe('unknown')
})

test('without a service, config and doctor say that they read the settings of this shell, and why no service was asked', async () => {
  const whose = 'These are the settings of this shell.'
  const env = settings({ JETON_PORT: '1' })
  const doctor = await jeton(['doctor'], { env })
  expect(doctor.out.startsWith(whose)).toBe(true)
  expect(doctor.out).toMatch(/^\? service +not asked: no service answers at http:\/\/127\.0\.0\.1:1$/m)
  const { out } = await jeton(['doctor', '--json'], { env })
  expect(JSON.parse(out)).toMatchObject({ settings_from: 'environment of this shell', service: null })
  for (const argv of [['config'], ['config', '--json']]) {
    const shown = await jeton(argv, { env })
    expect(shown.err).toContain('No service was asked: no service answers at http://127.0.0.1:1.\n')
    expect(shown.err).toContain(whose)
    expect(shown.out).not.toContain(whose)
  }
  const local = await jeton(['doctor', '--local'], { env })
  expect(local.out).not.toContain('service  ')
})

test.each([
  ['', 'ok'],
  ['10.1.0.0/16', 'ok'],
  ['10.1.0.0/16,127.0.0.0/8', 'failed'],
  ['169.254.0.0/16', 'failed'],
  ['::1', 'failed'],
  ['0.0.0.0/0', 'failed'],
])('JETON_WEBHOOK_ALLOW=%j is %s with --production', async (allow, result) => {
  const { of } = await examine(settings({ JETON_WEBHOOK_ALLOW: allow }), '--production')
  expect(of('webhooks')?.result).toBe(result)
})

test('in a terminal no line is wider than 80 columns, except commands to type', async () => {
  const env = settings({
    JETON_HOST: '0.0.0.0',
    JETON_LOG_LEVEL: 'debug',
    JETON_WEBHOOK_ALLOW: '::1',
    NO_COLOR: '1',
  })
  const { out } = await jeton(['doctor', '--production'], { env, isTTY: true })
  const wide = out.split('\n').filter((line) => [...line].length > 80)
  expect(wide.filter((line) => !line.includes(folder))).toEqual([])
})

eachEngine((engine) => {
  const onPostgres = engine.name === 'PostgreSQL' ? test : () => undefined
  onPostgres('clock skew to the store is reported with its direction', async () => {
    const env = { ...(await engine.settings()), XDG_CONFIG_HOME: folder, JETON_PORT: '0' }
    const { out } = await jeton(['doctor', '--json'], { env, now: Date.now() + 60_000 })
    const clock = JSON.parse(out).checks.find((check: Finding) => check.name === 'clock')
    expect(clock).toMatchObject({
      result: 'failed',
      says: expect.stringMatching(/s ahead of the clock of the store$/),
    })
  })

  onPostgres('more connections than PostgreSQL allows are reported', async () => {
    const env = { ...(await engine.settings()), XDG_CONFIG_HOME: folder, JETON_PORT: '0' }
    expect((await examine(env)).of('connections')).toMatchObject({
      result: 'ok',
      says: expect.stringMatching(/^at most 11 of the \d+ /),
    })
    const many = await examine({ ...env, JETON_WORKERS: '4', JETON_DATABASE_POOL: '200' })
    expect(many.of('connections')).toMatchObject({
      result: 'failed',
      says: expect.stringMatching(/^this service can open 804 connections, /),
      do: expect.stringMatching(/^JETON_DATABASE_POOL=\d+ or less/),
    })
  })

  test('a running service passes, and the operator of the first start fails with --production', async () => {
    const env = { ...(await engine.settings()), XDG_CONFIG_HOME: folder }
    const service = await startService(env, { clock: systemClock })
    const running = await examine({ ...env, JETON_PORT: new URL(service.url).port })
    for (const name of ['store', 'migrations', 'clock', 'operator'])
      expect(running.of(name)?.result).toBe('ok')
    await jeton(['operator', 'create', '--local', '--name', 'first'], { env })
    const { of } = await examine({ ...env, JETON_PORT: '0' }, '--production')
    expect(of('operators')).toMatchObject({ result: 'failed' })
    expect(of('sample')).toMatchObject({ result: 'ok' })
    await service.project('Sample')
    expect((await examine({ ...env, JETON_PORT: '0' }, '--production')).of('sample')).toMatchObject({
      result: 'failed',
      do: 'jeton project delete Sample',
    })
    await service.stop()
  })

  test('an operator created with --local works immediately, and --save saves it', async () => {
    const env = { ...(await engine.settings()), XDG_CONFIG_HOME: folder }
    const service = await startService(env, { clock: systemClock })
    const made = await jeton(
      ['operator', 'create', '--local', '--name', 'anna', '--save', '--url', service.url],
      { env },
    )
    expect(made).toMatchObject({ code: 0, err: expect.stringContaining('Saved in') })
    expect(made.out).toMatch(/^id\top_\w+\nname\tanna\ntoken\tjtm_\S+\n$/)
    const { out } = await jeton(['operator', 'list'], { env: { XDG_CONFIG_HOME: folder } })
    expect(out).toContain('\tanna\t')
    await service.stop()
  })
})
