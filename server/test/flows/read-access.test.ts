import { afterAll, describe, expect, test } from 'vitest'
import { systemClock } from '../../src/platform/clock.ts'
import { newFolder } from '../command-line.ts'
import { OPERATOR, send, startService, type TestService } from '../service.ts'

const METRICS = '/metrics'
const REFERENCE = [
  '/docs',
  '/docs/api',
  '/docs/reference.js',
  '/docs/operate/deploy',
  '/docs/search.json',
  '/openapi.json',
]
const CREDENTIAL = { 'x-management-id': OPERATOR.id, 'x-management-token': OPERATOR.token }
const ANYWHERE = { JETON_HOST: '0.0.0.0' }

const services: TestService[] = []
async function start(env: Record<string, string>): Promise<{ url: string; managementUrl: string }> {
  const settings = { JETON_DATA_DIR: newFolder('read-access'), ...env }
  const service = await startService(settings, { clock: systemClock, worker: false })
  services.push(service)
  const here = (url: string) => url.replace('0.0.0.0', '127.0.0.1').replace('[::]', '127.0.0.1')
  return { url: here(service.url), managementUrl: here(service.managementUrl) }
}
afterAll(() => Promise.all(services.map((service) => service.stop())))

const status = async (url: string, headers: Record<string, string> = {}) =>
  (await send(url, { headers })).status

describe('metrics and reference', () => {
  test.each([
    ['on a loopback address', {}],
    ['on localhost', { JETON_HOST: 'localhost' }],
    ['on a listener of their own', { ...ANYWHERE, JETON_MANAGEMENT_PORT: '0' }],
    ['where JETON_MANAGEMENT_ALLOW names the caller', { ...ANYWHERE, JETON_MANAGEMENT_ALLOW: '127.0.0.1' }],
  ])('metrics and reference are open %s', async (_, env) => {
    const { managementUrl } = await start(env)
    for (const path of [METRICS, ...REFERENCE]) expect(await status(managementUrl + path), path).toBe(200)
  })

  test.each(['0.0.0.0', '::'])(
    'metrics and reference on %s require the credential of an operator',
    async (host) => {
      const { url } = await start({ JETON_HOST: host })
      for (const path of [METRICS, ...REFERENCE]) {
        const refused = await send(url + path)
        expect([refused.status, refused.body.key], path).toEqual([401, 'unauthorized'])
        const wrong = { ...CREDENTIAL, 'x-management-token': 'wrong' }
        expect(await status(url + path, wrong), path).toBe(401)
        const answer = await send(url + path, { headers: CREDENTIAL })
        expect([answer.status, answer.headers.get('cache-control')], path).toEqual([200, 'no-store'])
      }
    },
  )

  test('JETON_METRICS_PUBLIC opens the metrics and not the reference', async () => {
    const { url } = await start({ ...ANYWHERE, JETON_METRICS_PUBLIC: 'on' })
    expect(await status(url + METRICS)).toBe(200)
    for (const path of REFERENCE) expect(await status(url + path), path).toBe(401)
  })

  test('metrics and reference are closed outside JETON_MANAGEMENT_ALLOW, even with a credential or JETON_METRICS_PUBLIC', async () => {
    const env = { ...ANYWHERE, JETON_MANAGEMENT_ALLOW: '10.0.0.0/8', JETON_METRICS_PUBLIC: 'on' }
    const { url } = await start(env)
    for (const path of [METRICS, ...REFERENCE]) {
      expect(await status(url + path), path).toBe(403)
      expect(await status(url + path, CREDENTIAL), path).toBe(403)
    }
  })
})

test('error pages and health are open everywhere', async () => {
  for (const env of [ANYWHERE, { ...ANYWHERE, JETON_MANAGEMENT_ALLOW: '10.0.0.0/8' }]) {
    const { url } = await start(env)
    const { body } = await send(`${url}/nowhere`)
    expect(await status(url + new URL(body.doc_url).pathname)).toBe(200)
    expect(await status(`${url}/health/live`)).toBe(200)
  }
})
