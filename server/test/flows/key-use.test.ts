import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { capturedLog } from '../captured-log.ts'
import { jeton } from '../command-line.ts'
import { eachEngine } from '../engines.ts'
import { madeUpToken } from '../made-up-token.ts'
import { OPERATOR, send } from '../service.ts'
import { everythingIn, startTimedService, type TimedService } from '../timed-service.ts'

eachEngine((engine) => {
  let service: TimedService
  const { log, text: logged } = capturedLog({ level: 'trace' })
  beforeAll(async () => {
    service = await startTimedService(engine, { log, env: { JETON_TRUSTED_PROXIES: '127.0.0.0/8' } })
  })
  afterAll(() => service.stop())
  const from = (address: string) => ({ 'x-forwarded-for': address })

  describe('the use of a key', () => {
    test('is shown with the addresses it came from, newest first, at most 16', async () => {
      const project = await service.project('Used')
      const key = await service.key(project.id)
      const show = async () => (await service.manage('GET', key.path)).body
      expect(await show()).toMatchObject({ last_used_from: null, recent_addresses: [] })
      const { body } = await service.issue(key, 'vouchers', from('10.0.0.1'))
      await service.advance(3_000)
      await send(`${service.url}/v1/vouchers/none`, {
        headers: { authorization: `Bearer ${body.access_token}`, ...from('2001:db8::1') },
      })
      await service.advance(3_000)
      await expect.poll(async () => (await show()).recent_addresses).toHaveLength(2)
      const shown = await show()
      expect(shown.last_used_from).toBe('2001:db8::1')
      expect(shown.recent_addresses).toEqual([
        { address: '2001:db8::1', last_used_at: shown.last_used_at },
        { address: '10.0.0.1', last_used_at: expect.any(String) },
      ])
      for (let i = 0; i < 40; i++) {
        await service.issue(key, 'vouchers', from(`10.0.1.${i}`))
        await service.advance(5_000)
      }
      await service.advance(5_000)
      await expect.poll(async () => (await show()).recent_addresses.length).toBe(16)
      expect((await show()).last_used_from).toMatch(/^10\.0\.1\./)
      // Use is no change.
      const { body: audit } = await service.manage('GET', `/projects/${project.id}/audit-log`)
      expect(audit.total).toBe(2)
    })
  })

  describe('a list of keys', () => {
    test('is narrowed to an app id, and to an address that may use them', async () => {
      const project = await service.project('Lists')
      const any = await service.key(project.id, { name: 'any' })
      const office = await service.key(project.id, { name: 'office', ip_whitelist: ['10.0.0.0/8', '::1'] })
      const gone = await service.key(project.id, { name: 'gone' })
      await service.manage('DELETE', gone.path)
      const namesFor = async (query: string) => {
        const { status, body } = await service.manage('GET', `/projects/${project.id}/api-keys?${query}`)
        return status === 200
          ? [body.data.map(({ name }: { name: string }) => name).sort(), body.total]
          : status
      }
      expect(await namesFor(`app_id=${office.appId}`)).toEqual([['office'], 1])
      expect(await namesFor('app_id=none')).toEqual([[], 0])
      expect(await namesFor('address=10.1.2.3')).toEqual([['any', 'office'], 2])
      expect(await namesFor('address=::ffff:10.1.2.3')).toEqual([['any', 'office'], 2])
      expect(await namesFor('address=11.1.2.3')).toEqual([['any'], 1])
      expect(await namesFor(`address=11.1.2.3&app_id=${office.appId}`)).toEqual([[], 0])
      expect(await namesFor('address=10.1.2.3&state=deleted')).toEqual([['gone'], 1])
      expect(await namesFor('address=10.1.2.3&limit=1&page=2')).toMatchObject([[expect.any(String)], 2])
      for (const wrong of ['10.0.0.0/8', 'office', '']) expect(await namesFor(`address=${wrong}`)).toBe(400)
      expect(any.id).toMatch(/^key_/)
    })
  })

  describe('a check of a token', () => {
    const command = (projectId: string, argv: readonly string[], input = '') =>
      jeton(argv, {
        env: {
          JETON_URL: service.url,
          JETON_MANAGEMENT_ID: OPERATOR.id,
          JETON_MANAGEMENT_TOKEN: OPERATOR.token,
          JETON_PROJECT: projectId,
          XDG_CONFIG_HOME: '/nowhere',
        },
        input,
      })

    test('says whose it is and why it is not active, and never repeats, stores or logs it', async () => {
      const [project, other] = [await service.project('Checks'), await service.project('Elsewhere')]
      const key = await service.key(project.id, { name: 'pos' })
      const { access_token } = (await service.issue(key, 'vouchers rewards')).body
      const check = (token: string, projectId = project.id) =>
        service.manage('POST', `/projects/${projectId}/token-checks`, { access_token: token })

      const good = await check(access_token)
      expect([good.status, good.body]).toEqual([
        200,
        {
          object: 'token_check',
          active: true,
          steps: expect.any(Array),
          remedy: null,
          command: null,
          token: {
            id: expect.stringMatching(/^tok_/),
            key_id: key.id,
            key_name: 'pos',
            client_id: key.client_id,
            scope: 'vouchers rewards',
            issued_at: expect.any(String),
            expires_at: expect.any(String),
          },
        },
      ])
      const failedStep = async (token: string, projectId?: string) => {
        const { body } = await check(token, projectId)
        const failed = body.steps.find(({ passed }: { passed: boolean }) => !passed)
        return [body.active, failed?.step, body.token?.key_id ?? null]
      }
      expect(await failedStep('jtn_cut')).toEqual([false, 'well_formed', null])
      expect(await failedStep(madeUpToken(project.id))).toEqual([false, 'known', null])
      // As one that never existed.
      expect((await check(access_token, other.id)).text).toBe(
        (await check(madeUpToken(other.id), other.id)).text,
      )
      const typed = await command(
        project.id,
        ['token', 'check', '--data', '-', '--json'],
        JSON.stringify({ access_token }),
      )
      expect(JSON.parse(typed.out)).toEqual(good.body)
      await service.manage('POST', `${key.path}/block`)
      expect(await failedStep(access_token)).toEqual([false, 'not_invalidated', key.id])
      expect((await check('', project.id)).status).toBe(400)
      expect((await check(access_token, 'proj_none')).status).toBe(404)
      const refused = await service.manage('POST', `/projects/${project.id}/token-checks`, {
        access_token,
        token: access_token,
      })
      expect(refused.status).toBe(400)

      const everywhere = [
        good.text,
        refused.text,
        typed.out + typed.err,
        logged(),
        JSON.stringify(await everythingIn(service.service.db)),
      ]
      for (const text of everywhere) expect(text).not.toContain(access_token)
    })
  })
})
