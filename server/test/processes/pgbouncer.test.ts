import { rmSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../src/platform/clock.ts'
import { jetonProcess, newFolder } from '../command-line.ts'
import { HAS_PGBOUNCER, NO_PGBOUNCER, startPgBouncer } from '../pgbouncer.ts'
import { type PostgresServer, startPostgres } from '../postgres-server.ts'
import { startService } from '../service.ts'

const ENCRYPTION = { JETON_ENCRYPTION_KEY: Buffer.alloc(32, 9).toString('base64') }

describe.skipIf(!HAS_PGBOUNCER)(`a service behind PgBouncer${HAS_PGBOUNCER ? '' : NO_PGBOUNCER}`, () => {
  let server: PostgresServer
  let folder: string
  beforeAll(async () => {
    folder = newFolder('pgbouncer')
    server = await startPostgres()
  })
  afterAll(async () => {
    await server.remove()
    rmSync(folder, { recursive: true, force: true })
  })

  const start = async (pool_mode: string) => {
    const bouncer = await startPgBouncer(server, { pool_mode })
    onTestFinished(() => bouncer.stop())
    return { ...ENCRYPTION, JETON_DATABASE_URL: bouncer.url(), XDG_CONFIG_HOME: folder, JETON_PORT: '0' }
  }

  test('a service behind PgBouncer in transaction mode ends at its start with one line that says what to do', async () => {
    const { code, err } = await jetonProcess(['serve'], await start('transaction'))
    expect(code).toBe(78)
    expect(err).toMatch(
      /^.*pooler in transaction mode.*Connect to PostgreSQL directly.*pool_mode = session.*\n$/,
    )
  })

  test('two services behind PgBouncer in session mode share tokens, and a blocked key stops working in both', async () => {
    const env = await start('session')
    const services = [
      await startService(env, { clock: systemClock }),
      await startService(env, { clock: systemClock }),
    ]
    onTestFinished(() => Promise.all(services.map((one) => one.stop())) as never)
    const [one, other] = services as [(typeof services)[0], (typeof services)[0]]
    const { id } = await one.project('pooled')
    const [key, caller] = [await one.key(id), await one.key(id)]
    const { body } = await one.issue(key)
    const isActive = async () => (await other.introspect(caller, body.access_token)).body.active
    expect(await isActive()).toBe(true)
    expect((await one.manage('POST', `${key.path}/block`)).status).toBe(200)
    await expect.poll(isActive).toBe(false)
  })
})
