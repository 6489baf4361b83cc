import Fastify from 'fastify'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import { readBuiltConsole } from '../../src/app/console/built-files.ts'
import { consoleRoutes } from '../../src/app/console/console.routes.ts'
import { systemClock } from '../../src/platform/clock.ts'
import type { App } from '../../src/platform/http/index.ts'
import { newFolder } from '../command-line.ts'
import { sendRaw } from '../raw-http.ts'
import { send, startService, type TestService } from '../service.ts'

const services: TestService[] = []
async function start(env: Record<string, string> = {}): Promise<TestService> {
  const settings = { JETON_DATA_DIR: newFolder('console'), ...env }
  const service = await startService(settings, { clock: systemClock, worker: false })
  services.push(service)
  return service
}
afterAll(() => Promise.all(services.map((service) => service.stop())))

const BROWSER = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }
const assetsOf = (page: string): string[] =>
  [...page.matchAll(/(?:src|href)="(\/console\/[^"]+)"/g)].map(([, path]) => path!)
const nonceOf = (page: string): string => /<meta name="csp-nonce" content="([^"]+)"/.exec(page)![1]!

describe('the files of the console', () => {
  test('the page has a policy with a nonce of its own in every response, and is never stored', async () => {
    const { url } = await start()
    const [first, second] = [await send(`${url}/console/`), await send(`${url}/console/`)]
    const nonces = [first, second].map(({ text }) => nonceOf(text))
    expect(nonces[0]).toMatch(/^[\w+/]{22}==$/)
    expect(nonces[0]).not.toBe(nonces[1])
    expect(Object.fromEntries(first.headers)).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': `default-src 'none'; script-src 'self'; style-src 'self' 'nonce-${nonces[0]}'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
    })
    expect(first.text).not.toMatch(/<style|<script(?![^>]* src=)|%NONCE%|https?:/)
  })

  test('scripts and styles may be stored forever, since their names change with their content', async () => {
    const { url } = await start()
    const paths = assetsOf((await send(`${url}/console/`)).text)
    expect(paths.map((path) => path.replace(/-[\w-]{8}\./, '.'))).toEqual(
      expect.arrayContaining(['/console/assets/index.js', '/console/assets/index.css']),
    )
    for (const path of paths) {
      const plain = await fetch(url + path, { headers: { 'accept-encoding': 'identity' } })
      const gzipped = await fetch(url + path)
      expect([plain.headers.get('content-encoding'), gzipped.headers.get('content-encoding')]).toEqual([
        null,
        'gzip',
      ])
      expect(await gzipped.text()).toBe(await plain.text())
      expect(Object.fromEntries(gzipped.headers)).toMatchObject({
        'content-type': path.endsWith('.js') ? 'text/javascript; charset=utf-8' : 'text/css; charset=utf-8',
        'cache-control': 'public, max-age=31536000, immutable',
        'cross-origin-resource-policy': 'same-origin',
        'x-content-type-options': 'nosniff',
        vary: 'accept-encoding',
      })
    }
  })

  test('every address of a page shows the console, so that links and reloads work', async () => {
    const { url } = await start()
    for (const path of [
      '/projects/proj_1/api-keys/key_2',
      '/system',
      '/projects/p/events?from=2026-11-18T00:00:00Z',
    ])
      expect((await send(`${url}/console${path}`)).text, path).toContain('<div id="root">')
    const bare = await send(`${url}/console`)
    expect([bare.status, bare.headers.get('location')]).toEqual([302, '/console/'])
  })

  test.each([
    '/console/../package.json',
    '/console/assets/../../package.json',
    '/console/assets/../index.html',
    '/console/assets/..%2f..%2fpackage.json',
    '/console/assets/%2e%2e/%2e%2e/package.json',
    '/console/assets/..%5c..%5cpackage.json',
    '/console/assets/%2fetc%2fpasswd',
    '/console/assets//etc/passwd',
    '/console//etc/passwd',
    '/console/assets/',
    '/console/assets/index.html',
    '/console/assets/__proto__',
    '/console/assets/constructor',
    '/console/assets/x%00.js',
    '/console/%2e%2e/%2e%2e/etc/passwd',
    '/console/third-party-licences.md%00',
    '/console/index.html;x',
    '/console/\\..\\..\\etc\\passwd',
    '/console/%c0%ae%c0%ae/',
    `/console/assets/${'a'.repeat(2_000)}`,
    'http://elsewhere.example/console/assets/..%2f..%2fpackage.json',
  ])('no path reaches another file: %s', async (path) => {
    const { url } = services[0] ?? (await start())
    const answer = await sendRaw(url, { path })
    expect(answer.text).not.toMatch(/jeton-workspace|jeton-console|root:x:|devDependencies/)
    const isPage = answer.status === 200 && answer.text.includes('<div id="root">')
    expect(isPage || [400, 404, 414, 431].includes(answer.status), `${answer.status}`).toBe(true)
    if (path.includes('assets')) expect(answer.status).not.toBe(200)
  })

  test('a request that changes something is not allowed at the address of the console', async () => {
    const { url } = services[0] ?? (await start())
    for (const method of ['POST', 'PUT', 'DELETE'])
      expect((await send(`${url}/console/`, { method })).status).toBe(405)
  })
})

describe('where the console is', () => {
  test('a browser at the root goes to the console, and a program does not', async () => {
    const { url } = await start()
    const browser = await send(`${url}/`, { headers: BROWSER })
    expect([browser.status, browser.headers.get('location')]).toEqual([302, '/console/'])
    expect((await send(`${url}/`)).body).toMatchObject({ name: 'Jeton', links: { console: '/console/' } })
  })

  test('the console is on the management listener where there is one, and only there', async () => {
    const { url, managementUrl } = await start({ JETON_MANAGEMENT_PORT: '0' })
    expect((await send(`${managementUrl}/console/`)).text).toContain('<div id="root">')
    expect((await send(`${managementUrl}/`, { headers: BROWSER })).headers.get('location')).toBe('/console/')
    expect((await send(`${url}/console/`)).status).toBe(404)
    expect((await send(`${url}/`, { headers: BROWSER })).text).toContain('Jeton is running')
  })

  test('JETON_CONSOLE=off removes the console, and the home page stays', async () => {
    const { url } = await start({ JETON_CONSOLE: 'off' })
    for (const path of ['/console', '/console/', '/console/assets/x.js', '/console/system'])
      expect((await send(url + path)).status, path).toBe(404)
    expect((await send(`${url}/`, { headers: BROWSER })).text).toContain('Jeton is running')
  })

  test('the files of the console follow JETON_MANAGEMENT_ALLOW', async () => {
    const { url } = await start({ JETON_MANAGEMENT_ALLOW: '10.0.0.0/8' })
    for (const path of ['/console/', '/console/assets/x.js', '/console/system'])
      expect((await send(url + path)).status, path).toBe(403)
  })

  test('a service without a built console says how to build it, and finds a later build without a restart', async () => {
    let folders: readonly URL[] = [new URL(`file://${newFolder('no-console')}/`)]
    const app = Fastify()
    onTestFinished(() => app.close())
    consoleRoutes(app as unknown as App, { readConsole: () => readBuiltConsole(folders) })
    const url = await app.listen({ port: 0, host: '127.0.0.1' })
    const missing = await send(`${url}/console/`)
    expect(missing.status).toBe(404)
    expect(missing.text).toContain('The console is not built: run <code>npm ci</code> in the checkout')
    folders = [new URL('../../../console/dist/', import.meta.url)]
    expect((await send(`${url}/console/`)).text).toContain('<div id="root">')
  })
})
