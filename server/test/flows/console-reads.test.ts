import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { SCOPE_VALUES } from '../../src/contract/scopes.ts'
import { eachEngine } from '../engines.ts'
import { byPair, newOperator } from '../operators.ts'
import { startTimedService, type TimedService } from '../timed-service.ts'

eachEngine((engine) => {
  let service: TimedService
  beforeAll(async () => {
    service = await startTimedService(engine, {
      worker: false,
      env: { JETON_TRUSTED_PROXIES: '127.0.0.0/8' },
    })
  })
  afterAll(() => service.stop())
  const from = (address: string) => ({ 'x-forwarded-for': address })

  test('the list of scopes names every scope once, with the paths that it opens', async () => {
    const { body } = await service.manage('GET', '/scopes')
    expect(body.data.map(({ name }: { name: string }) => name)).toEqual(SCOPE_VALUES)
    const pathOf = (wanted: string) => body.data.find(({ name }: { name: string }) => name === wanted).path
    expect(['api', 'SKUs', 'client_redeem'].map(pathOf)).toEqual(['/v1/*', '/v1/skus', '/client/v1/redeem'])
  })

  test('the tokens of a project are counted by the minute in which they expire, without revoked ones', async () => {
    const project = await service.project('Expiring')
    const key = await service.key(project.id)
    const usage = async () => (await service.manage('GET', `/projects/${project.id}/token-usage`)).body
    expect((await usage()).expiring).toEqual(new Array(15).fill(0))
    await service.issue(key)
    await service.advance(5 * 60_000)
    const { body } = await service.issue(key)
    await service.issue(key)
    await service.form('/v1/oauth/revoke', { token: body.access_token }, key)
    const { expiring, active_tokens } = await usage()
    expect(active_tokens).toBe(2)
    expect(expiring.flatMap((count: number, minute: number) => (count ? [[minute, count]] : []))).toEqual([
      [expect.toBeOneOf([9, 10]), 1],
      [14, 1],
    ])
  })

  describe('an allowlist that is checked before it is set', () => {
    test('names the entries with a mistake and the recent clients that it would refuse, and changes nothing', async () => {
      const project = await service.project('Addresses')
      const key = await service.key(project.id)
      for (const address of ['10.0.0.1', '203.0.113.7', '2001:db8::1']) {
        await service.issue(key, 'vouchers', from(address))
        await service.advance(3_000)
      }
      const show = async () => (await service.manage('GET', key.path)).body
      await expect.poll(async () => (await show()).recent_addresses.length).toBe(3)
      const check = (ip_whitelist: string[], of?: string) =>
        service.manage('POST', `/projects/${project.id}/api-keys/check-addresses`, {
          ip_whitelist,
          ...(of && { key: of }),
        })
      const addresses = (uses: { address: string }[]) => uses.map(({ address }) => address)
      const { body } = await check(['10.0.0.0/8', '10.0.0.0/33', 'office', '2001:db8::/32'], key.id)
      expect(body.mistakes.map(({ entry }: { entry: string }) => entry)).toEqual(['10.0.0.0/33', 'office'])
      expect(addresses(body.refused)).toEqual(['203.0.113.7'])
      expect(addresses(body.allowed)).toEqual(['2001:db8::1', '10.0.0.1'])
      expect(addresses((await check([], key.id)).body.refused)).toEqual([])
      expect((await check(['10.0.0.4'])).body).toMatchObject({ mistakes: [], refused: [], allowed: [] })
      expect((await check(['10.0.0.4'], 'key_none')).status).toBe(404)
      expect((await show()).ip_whitelist).toEqual([])
      await service.jump(25 * 60 * 60_000)
      expect((await check(['10.0.0.4'], key.id)).body.refused).toEqual([])
    })
  })

  describe('one key among many', () => {
    test('its refusals are listed alone, and its usage is returned alone', async () => {
      const project = await service.project('Alone')
      const [one, other] = [
        await service.key(project.id, { name: 'one' }),
        await service.key(project.id, { name: 'other' }),
      ]
      for (const key of [one, other, other]) await service.issue({ ...key, appToken: 'wrong' })
      const { body: listed } = await service.manage('GET', `/projects/${project.id}/refusals?key=${other.id}`)
      expect([listed.total, ...listed.data.map(({ key_id }: { key_id: string }) => key_id)]).toEqual([
        2,
        other.id,
        other.id,
      ])
      const usage = (query: string) =>
        service.manage('GET', `/projects/${project.id}/usage?metric=refusals&${query}`)
      const { body } = await usage(`by=key&only=${one.id}`)
      expect([body.total, body.series.map(({ key }: { key: string }) => key)]).toEqual([1, [one.id]])
      expect((await usage('by=key&only=key_none')).body).toMatchObject({ total: 0, series: [] })
      expect((await usage(`only=${one.id}`)).status).toBe(400)
    })
  })

  test('a change of a key names each process for operators of every project, and for nobody else', async () => {
    const project = await service.project('Processes')
    const key = await service.key(project.id)
    const { body } = await service.manage('POST', `${key.path}/block`)
    expect(body.propagation).toMatchObject({
      processes: 1,
      confirmed: 1,
      by_process: [
        { id: expect.stringMatching(/^proc_/), host: expect.any(String), pid: process.pid, after_ms: 0 },
      ],
    })
    const limited = byPair(service.url, await newOperator(service, 'editor', [project.id]))
    const { body: seen } = await limited('POST', `${key.path}/unblock`)
    expect(seen.propagation).toMatchObject({ processes: 1, confirmed: 1, by_process: [] })
  })
})
