import { rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Finding } from '../../src/app/checks/finding.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { jeton, newFolder } from '../command-line.ts'
import { eachEngine } from '../engines.ts'
import { OPERATOR, startService, type TestService } from '../service.ts'

const cleanUps: (() => unknown)[] = []
let folder: string
beforeEach(() => (folder = newFolder('ask-service')))
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
  rmSync(folder, { recursive: true, force: true })
})

const CREDENTIAL = { JETON_MANAGEMENT_ID: OPERATOR.id, JETON_MANAGEMENT_TOKEN: OPERATOR.token }

/** A shell that knows the address of a service, and nothing of its settings. */
const shellFor = ({ url }: Pick<TestService, 'url'>, more: Record<string, string> = {}) => ({
  XDG_CONFIG_HOME: folder,
  JETON_URL: url,
  JETON_DATA_DIR: `${folder}/nowhere`,
  ...more,
})

async function doctor(env: Record<string, string>, ...flags: string[]) {
  const { code, out } = await jeton(['doctor', '--json', ...flags], { env })
  const { service, settings_from, checks } = JSON.parse(out)
  return {
    code,
    service,
    settings_from,
    of: (name: string) => checks.find((one: Finding) => one.name === name),
  }
}

eachEngine((engine) => {
  async function start(env: Record<string, string> = {}): Promise<TestService> {
    const service = await startService({ ...(await engine.settings()), ...env }, { clock: systemClock })
    cleanUps.push(() => service.stop())
    return service
  }

  test('doctor asks the running service, which checks its own settings and store, and says which process answered', async () => {
    const service = await start({ JETON_PUBLIC_URL: 'https://jeton.example', JETON_LOG_LEVEL: 'debug' })
    const [process] = (await service.manage('GET', '/processes')).body.data
    const asked = await doctor(shellFor(service, CREDENTIAL), '--production')
    expect(asked.settings_from).toBe('service')
    expect(asked.service).toMatchObject({ url: service.url, id: process.id, pid: process.pid })
    expect(asked.of('public url')).toMatchObject({ result: 'ok', says: 'https://jeton.example' })
    expect(asked.of('log level')).toMatchObject({ result: 'failed', do: 'JETON_LOG_LEVEL=info' })
    for (const name of ['store', 'migrations', 'clock', 'webhooks', 'management', 'sample'])
      expect([name, asked.of(name)?.result]).toEqual([name, 'ok'])
    // The service cannot see these either.
    for (const name of ['backup', 'alerts']) expect([name, asked.of(name)?.result]).toEqual([name, 'unknown'])
    expect(asked.code).toBe(78)
    const readable = await jeton(['doctor'], { env: shellFor(service, CREDENTIAL) })
    expect(readable.out.replaceAll('\n', ' ')).toContain(
      `Answered by the service at ${service.url}: process ${process.id} (pid ${process.pid} on `,
    )
    expect(readable.out).not.toMatch(/public url/)
    expect((await doctor(shellFor(service, CREDENTIAL), '--local')).settings_from).toBe(
      'environment of this shell',
    )
  })

  test('config shows the settings of the running service with their source and default, and no secret', async () => {
    const key = Buffer.alloc(32, 7).toString('base64')
    const service = await start({ JETON_RETENTION_DAYS: '30', JETON_ENCRYPTION_KEY: key })
    const { out, err } = await jeton(['config', '--json'], {
      env: shellFor(service, { ...CREDENTIAL, JETON_RETENTION_DAYS: '7' }),
    })
    const { settings, settings_from } = JSON.parse(out)
    const of = (name: string) => settings.find((one: { name: string }) => one.name === name)
    expect(settings_from).toBe('service')
    expect(err).toContain(`Answered by the service at ${service.url}: process proc_`)
    expect(of('JETON_RETENTION_DAYS')).toEqual({
      name: 'JETON_RETENTION_DAYS',
      value: '30',
      source: 'environment',
      default: '90',
    })
    expect(of('JETON_LOG_LEVEL')).toMatchObject({ value: 'info', source: 'default', default: 'info' })
    expect(of('JETON_PUBLIC_URL')).toMatchObject({ value: null, source: 'default', default: null })
    expect(of('JETON_ENCRYPTION_KEY').value).toBe('•••')
    expect(of('JETON_URL')).toBeUndefined()
    const { text } = await service.manage('GET', '/settings')
    for (const secret of [key, OPERATOR.token]) expect(text).not.toContain(secret)
  })

  test('doctor passes nothing of a service that refuses to answer, and says how to sign in', async () => {
    const service = await start()
    const wrong = { ...CREDENTIAL, JETON_MANAGEMENT_TOKEN: 'x'.repeat(32) }
    const cases = [
      [shellFor(service), `there are no credentials for the service at ${service.url}`],
      [shellFor(service, wrong), `the service at ${service.url} refused the credentials`],
    ] as const
    for (const [env, says] of cases) {
      const asked = await doctor(env, '--production')
      expect(asked).toMatchObject({ service: null, settings_from: 'environment of this shell' })
      expect(asked.of('service')).toEqual({
        name: 'service',
        result: 'unknown',
        says: `not asked: ${says}`,
        do: `jeton login --url ${service.url}`,
      })
      for (const name of ['store', 'operators', 'sample', 'webhooks'])
        expect([name, asked.of(name)?.result]).toEqual([name, 'unknown'])
    }
  })

  test('a check inside the service that cannot read the store fails, and what depends on it is unknown', async () => {
    const service = await start()
    const { db } = service.service
    const { checkService } = await import('../../src/app/checks/check-service.ts')
    const { readConfig } = await import('../../src/platform/config/index.ts')
    const config = readConfig({ JETON_DATA_DIR: folder })
    const store = await engine.freshStore()
    const closed = await store.open()
    await closed.close()
    const found = async (using: typeof db) => {
      const whyNotWritable = async () => undefined
      const findings = await checkService({ config, db: using, clock: systemClock, whyNotWritable }, true)
      return (name: string) => findings.find((one) => one.name === name)?.result
    }
    const [open, away] = [await found(db), await found(closed)]
    expect(['store', 'operators', 'sample'].map(open)).toEqual(['ok', 'ok', 'ok'])
    expect(['store', 'operators', 'sample'].map(away)).toEqual(['failed', 'unknown', 'unknown'])
  })

  test('the service lists its background jobs with their last runs', async () => {
    const service = await start()
    const jobs = async () => (await service.manage('GET', '/jobs')).body
    const [process] = (await service.manage('GET', '/processes')).body.data
    expect((await jobs()).process.pid).toBe(process.pid)
    await expect
      .poll(async () => (await jobs()).data.find((job: { name: string }) => job.name === 'relay'))
      .toEqual({
        object: 'job',
        name: 'relay',
        purpose: 'Creates the deliveries of new events',
        every_ms: 500,
        last_run_at: expect.stringMatching(/^\d{4}-/),
        last_duration_ms: expect.any(Number),
        error: null,
      })
  })

  test('the store reports its engine, size and migrations, and the queue what is due', async () => {
    const service = await start()
    const { body } = await service.manage('GET', '/store')
    expect(body).toEqual({
      object: 'store',
      engine: engine.name === 'SQLite' ? 'sqlite' : 'postgres',
      name: expect.stringMatching(/^(SQLite|PostgreSQL) /),
      version: expect.stringMatching(/^\d+\.\d+/),
      size_bytes: expect.toSatisfy((bytes) => bytes > 10_000),
      migrations: { applied: expect.any(Number), pending: 0, latest: expect.stringMatching(/^\d{4}-/) },
    })
    expect((await service.manage('GET', '/queue')).body).toEqual({
      object: 'queue',
      due: 0,
      oldest_due_at: null,
      in_flight: 0,
      waiting_events: 0,
    })
  })

  test('key commands with --wait say how many processes apply the change', async () => {
    const service = await start()
    await service.key((await service.project('Club')).id, { name: 'till' })
    const type = (...argv: string[]) => jeton(argv, { env: shellFor(service, CREDENTIAL) })
    const blocked = await type('key', 'block', 'till', '--wait', '--reason', 'lost till')
    expect(blocked).toMatchObject({
      code: 0,
      err: expect.stringMatching(/^Applied by 1 of 1 process after \d+ ms\.$/m),
    })
    expect(blocked.err).not.toContain('shown only once')
    expect((await type('key', 'unblock', 'till')).err).not.toContain('Applied')
    expect((await type('process', 'list', '--quiet')).out).toMatch(/^proc_\w{16}\n$/)
  })
})

test('doctor does not take another program for a service', async () => {
  const server = createServer((_, response) => response.writeHead(200).end('hello'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  cleanUps.push(() => new Promise((resolve) => server.close(resolve).closeAllConnections()))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  for (const env of [shellFor({ url }), shellFor({ url }, CREDENTIAL)]) {
    const asked = await doctor(env)
    expect(asked.service).toBe(null)
    expect(asked.of('service')?.result).toBe('unknown')
  }
})
