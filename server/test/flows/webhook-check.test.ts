import { afterAll, beforeAll, expect, test } from 'vitest'
import { jeton } from '../command-line.ts'
import { eachEngine } from '../engines.ts'
import { type RawReceiver, startRawReceiver } from '../raw-receiver.ts'
import { OPERATOR } from '../service.ts'
import { startTimedService, type TimedService } from '../timed-service.ts'

const ENV = {
  JETON_ENCRYPTION_KEY: Buffer.alloc(32, 9).toString('base64'),
  JETON_WEBHOOK_ALLOW: '127.0.0.0/8',
}

eachEngine((engine) => {
  let service: TimedService
  let receiver: RawReceiver
  let projectId: string
  beforeAll(async () => {
    service = await startTimedService(engine, { env: ENV, worker: false })
    receiver = await startRawReceiver({})
    projectId = (await service.project('Club')).id
  })
  afterAll(async () => {
    await service.stop()
    await receiver.close()
  })
  const check = (body: object, project = projectId) =>
    service.manage('POST', `/projects/${project}/webhooks/check`, body)

  test('a target is checked by one connection without a request', async () => {
    const target_url = `http://127.0.0.1:${receiver.port}/hook`
    const { status, body } = await check({ target_url })
    expect([status, body]).toEqual([
      200,
      {
        object: 'webhook_check',
        allowed: true,
        reason: null,
        addresses: ['127.0.0.1'],
        tls: null,
        connect_ms: expect.any(Number),
      },
    ])
    expect([receiver.connections(), receiver.received()]).toEqual([1, ''])
    const blocked = await check({ target_url: 'https://10.0.0.4/hook' })
    expect(blocked.body).toMatchObject({ allowed: false, addresses: [], tls: null, connect_ms: null })
    expect(blocked.body.reason).toContain('JETON_WEBHOOK_ALLOW=10.0.0.4')
    // Nothing was changed.
    expect((await service.manage('GET', `/projects/${projectId}/audit-log`)).body.data).toHaveLength(1)
  })

  test('a bad URL and an unknown project are refused before anything is opened', async () => {
    const before = receiver.connections()
    for (const target_url of ['ftp://127.0.0.1/', 'https://u:p@127.0.0.1/', 'x', '', 7])
      expect((await check({ target_url })).status, String(target_url)).toBe(400)
    const target_url = `http://127.0.0.1:${receiver.port}/hook`
    expect((await check({ target_url }, 'proj_none')).status).toBe(404)
    expect(receiver.connections()).toBe(before)
  })

  test('the command line checks a target', async () => {
    const target = `http://127.0.0.1:${receiver.port}/hook`
    const { code, out } = await jeton(['webhook', 'check', '--target-url', target], {
      env: {
        JETON_URL: service.url,
        JETON_MANAGEMENT_ID: OPERATOR.id,
        JETON_MANAGEMENT_TOKEN: OPERATOR.token,
        JETON_PROJECT: projectId,
        XDG_CONFIG_HOME: '/nowhere',
      },
    })
    expect([code, out]).toEqual([0, expect.stringMatching(/^allowed\ttrue$/m)])
  })

  test('an operator has 30 checks per minute, and the next minute again', async () => {
    await service.advance(60_000)
    const target_url = 'https://10.0.0.4/'
    for (let i = 0; i < 30; i++) expect((await check({ target_url })).status).toBe(200)
    const { status, headers, body } = await check({ target_url })
    expect([status, body.key, headers.get('retry-after')]).toEqual([429, 'too_many_requests', '60'])
    await service.advance(60_000)
    expect((await check({ target_url })).status).toBe(200)
  })
})
