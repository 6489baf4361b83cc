import { afterEach, describe, expect, test } from 'vitest'
import { jeton, newFolder } from '../command-line.ts'
import { openRecord } from '../delivery-record.ts'
import { eachEngine } from '../engines.ts'
import { type Receiver, startReceiver } from '../receiver.ts'
import { OPERATOR, startService, type TestService } from '../service.ts'
import { startTimedService, type TimedService } from '../timed-service.ts'
import { FAULTS } from '../unwritable-store.ts'

const ENV = {
  JETON_ENCRYPTION_KEY: Buffer.alloc(32, 9).toString('base64'),
  JETON_WEBHOOK_ALLOW: '127.0.0.0/8',
  JETON_NOTICE_SECRET: `whsec_${Buffer.alloc(32, 5).toString('base64')}`,
}

eachEngine((engine) => {
  let receiver: Receiver
  let services: [TimedService, TestService, TestService]
  afterEach(async () => {
    for (const service of services) await service.stop()
    await receiver.close()
  })

  /** Three processes on one store, with one clock. */
  async function start() {
    receiver = await startReceiver()
    const store = await engine.freshStore()
    const env = { ...store.env, ...ENV, JETON_NOTICE_URL: receiver.url }
    const first = await startTimedService(engine, { env, worker: false })
    const options = { clock: first.clock, worker: false }
    services = [first, await startService(env, options), await startService(env, options)]
    return { first, store }
  }
  const attention = async (service: TestService) => (await service.manage('GET', '/attention')).body.data
  const kindsOf = async (service: TestService): Promise<string[]> =>
    (await attention(service)).map(({ kind }: { kind: string }) => kind)
  /** Time that a test moves makes a process look stale. */
  const types = () =>
    receiver.received
      .map(({ payload }) => [payload.type, payload.data.kind])
      .filter(([, kind]) => kind !== 'process.stale_key_state')

  describe('attention in three processes', () => {
    test('a problem that one process has counted is listed by each of the three', async () => {
      const { first } = await start()
      const record = await openRecord(first)
      const webhook = await record.webhook()
      await first.service.db.transaction((tx) =>
        tx
          .write<{ destinations: { id: string; active: number; disabled_reason: string } }>()
          .updateTable('destinations')
          .set({ active: 0, disabled_reason: 'answered 410 Gone' })
          .where('id', '=', webhook)
          .execute(),
      )
      const key = await first.key(record.projectId)
      await first.manage('POST', `${key.path}/block`)
      for (let i = 0; i < 50; i++) await services[2].issue(key)
      for (const service of services)
        await expect
          .poll(async () => {
            await first.advance(1_000)
            return kindsOf(service)
          })
          .toEqual(['destination.disabled', 'refusals.jump'])
    })

    const fault = FAULTS[engine.name]!.find(({ end }) => end)!
    test(`a store that accepts no writes (${fault.name}) is listed by each of the three and reported once, and so is its end`, async () => {
      const { first, store } = await start()
      const { id } = await first.project('Club')
      for (const service of services) expect(await attention(service)).toEqual([])
      // The limit of SQLite belongs to a connection.
      for (const service of services.slice(0, engine.name === 'SQLite' ? 3 : 1))
        await fault.begin(store, service.service.db)
      for (const service of services) {
        // The first writes may fit into pages that exist.
        const create = () => service.manage('POST', `/projects/${id}/api-keys`, { name: 'more' })
        await expect.poll(async () => (await create()).status).toBe(503)
        await expect.poll(() => kindsOf(service)).toEqual(['store.not_writable'])
      }
      const [found] = await attention(services[1])
      expect(found.message).toBe(`The database accepts no writes: ${fault.reason}.`)
      const env = {
        JETON_URL: services[1].url,
        JETON_MANAGEMENT_ID: OPERATOR.id,
        JETON_MANAGEMENT_TOKEN: OPERATOR.token,
        XDG_CONFIG_HOME: newFolder('doctor'),
        NO_COLOR: '1',
      }
      const doctor = await jeton(found.fix.command.split(' ').slice(1), { env })
      expect([doctor.code, doctor.out]).toEqual([
        78,
        expect.stringContaining(`the database accepts none: ${fault.reason}`),
      ])

      const pass = async (ms: number) => {
        for (let passed = 0; passed < ms; passed += 5_000) await first.clock.advance(5_000)
      }
      await expect
        .poll(async () => {
          await pass(20_000)
          return types()
        })
        .toEqual([['attention.started', 'store.not_writable']])
      await pass(60_000)
      expect(types()).toHaveLength(1)

      for (const service of services.slice(0, engine.name === 'SQLite' ? 3 : 1))
        await fault.end!(store, service.service.db)
      await expect
        .poll(async () => {
          await first.advance(5_000)
          return types()
        })
        .toEqual([
          ['attention.started', 'store.not_writable'],
          ['attention.ended', 'store.not_writable'],
        ])
      // The clock moved faster than the processes could confirm the state of keys.
      for (const service of services)
        await expect
          .poll(async () => {
            await first.advance(1_000)
            return attention(service)
          })
          .toEqual([])
      await pass(60_000)
      expect(types()).toHaveLength(2)
    })
  })
})
