import { createHash } from 'node:crypto'
import { afterAll, describe, expect, test } from 'vitest'
import { ERRORS } from '../../src/contract/error-keys.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { newFolder } from '../command-line.ts'
import { type Answer, send, startService, type TestService } from '../service.ts'

const services: TestService[] = []
async function start(env: Record<string, string> = {}): Promise<TestService> {
  const settings = { JETON_DATA_DIR: newFolder('home'), JETON_CONSOLE: 'off', ...env }
  const service = await startService(settings, { clock: systemClock, worker: false })
  services.push(service)
  return service
}
afterAll(() => Promise.all(services.map((service) => service.stop())))

/** As Chromium asks. */
const BROWSER = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' }
const here = (url: string) => url.replace('0.0.0.0', '127.0.0.1')
const home = (url: string) => send(`${here(url)}/`, { headers: BROWSER })
const linksIn = ({ text }: Answer): string[] =>
  [...text.matchAll(/(?:href|src)="([^"]*)"/g)].map(([, link]) => link!)

async function expectAllOpen(url: string, paths: readonly string[]): Promise<void> {
  expect(paths.length).toBeGreaterThan(2)
  for (const path of paths) {
    expect(path).toMatch(/^\//)
    expect((await send(here(url) + path)).status, path).toBe(200)
  }
}

describe('the address of the service, opened in a browser', () => {
  test('the home page describes the service, and its links to documentation, reference and health work', async () => {
    const { url } = await start()
    const page = await home(url)
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    const links = linksIn(page)
    expect(links).toEqual(expect.arrayContaining(['/docs', '/docs/api', '/health/ready']))
    await expectAllOpen(url, links)
  })

  test('the home page loads only its icon, runs no script, and has only the style in its policy', async () => {
    const { url } = await start()
    for (const path of ['/', '/docs/errors', '/docs/errors/not_found']) {
      const page = await send(url + path, { headers: BROWSER })
      const [, style] = /<style>([^<]*)<\/style>/.exec(page.text)!
      const hash = createHash('sha256').update(style!).digest('base64')
      const policy = page.headers.get('content-security-policy')
      expect(policy).toContain(`default-src 'none'; style-src 'sha256-${hash}'; img-src 'self';`)
      expect(policy).not.toMatch(/unsafe|https?:|\*/)
      expect(page.text, path).not.toMatch(/<script|style=|<img|@import|url\(/)
    }
  })

  test.each([
    ['beyond loopback', { JETON_HOST: '0.0.0.0' }],
    ['with a management listener', { JETON_MANAGEMENT_PORT: '0' }],
  ])('the home page links to nothing that requires a credential, %s', async (_, env) => {
    const { url } = await start(env)
    const page = await home(url)
    const links = linksIn(page)
    expect(links).not.toContain('/docs')
    await expectAllOpen(url, links)
    expect(page.text).toContain('available to operators of this service only')
  })

  test('the home page of the management listener leads to the reference', async () => {
    const { managementUrl } = await start({ JETON_MANAGEMENT_PORT: '0' })
    const links = linksIn(await home(managementUrl))
    expect(links).toContain('/docs')
    await expectAllOpen(managementUrl, links)
    const shut = await start({ JETON_MANAGEMENT_PORT: '0', JETON_MANAGEMENT_ALLOW: '10.0.0.0/8' })
    expect((await home(shut.managementUrl)).status).toBe(403)
    expect((await home(shut.url)).status).toBe(200)
  })
})

test('programs get the links of the home page as JSON', async () => {
  const { url } = await start()
  for (const accept of ['*/*', 'application/json']) {
    const answer = await send(`${url}/`, { headers: { accept } })
    expect([answer.status, answer.headers.get('vary')]).toEqual([200, 'accept'])
    expect(answer.body.name).toBe('Jeton')
    await expectAllOpen(url, Object.values(answer.body.links))
  }
})

test('the documentation is also at /docs/, the errors at /docs/errors, and there is an icon', async () => {
  const { url } = await start()
  expect((await send(`${url}/docs/`)).text).toBe((await send(`${url}/docs`)).text)
  for (const path of ['/docs/errors', '/docs/errors/']) {
    const links = linksIn(await send(url + path))
    expect(links).toEqual(expect.arrayContaining(Object.keys(ERRORS).map((key) => `/docs/errors/${key}`)))
  }
  const icon = await fetch(`${url}/favicon.ico`)
  expect([icon.status, icon.headers.get('content-type')]).toEqual([200, 'image/x-icon'])
  const bytes = Buffer.from(await icon.arrayBuffer())
  expect(bytes.readUInt32LE(0)).toBe(0x00010000)
  expect(bytes.length).toBe(bytes.readUInt32LE(14) + bytes.readUInt32LE(18))
})
