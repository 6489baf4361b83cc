import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../server/src/platform/clock.ts'
import { newFolder } from '../../server/test/command-line.ts'
import { startService, type TestService } from '../../server/test/service.ts'
import { describeInBrowser, openBrowser } from './browser.ts'

/** An empty page on another port of this machine: for cookies the same site, for everything else another origin. */
async function startForeignPage(): Promise<string> {
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end('<title>Elsewhere</title><body></body>')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

describeInBrowser('pages of other origins', () => {
  let service: TestService
  beforeAll(async () => {
    service = await startService(
      { JETON_DATA_DIR: newFolder('foreign') },
      { clock: systemClock, worker: false },
    )
  })
  afterAll(() => service.stop())

  const projects = async () => (await service.manage('GET', '/projects')).body.total

  test('a page of another port has the cookie of the operator and still changes and reads nothing', async () => {
    const foreign = await startForeignPage()
    const expected = [/^40\d (GET|POST|OPTIONS) \/management\/v1\/projects$/, /favicon/]
    const { page, faults } = await openBrowser(service.url, { expected })
    const answers: string[] = []
    page.on('response', async (response) => {
      const request = response.request()
      // The last answers may come when the tab is already closed.
      const { cookie = '' } = await request.allHeaders().catch((): Record<string, string> => ({}))
      const sent = cookie.includes('jeton_session') ? 'cookie' : ''
      answers.push(`${response.status()} ${request.method()} ${sent}`)
    })
    await page.goto(foreign)
    const url = `${service.url}/management/v1/projects`
    const read = await page.evaluate(async (target) => {
      const body = JSON.stringify({ name: 'Stolen' })
      const plain = { method: 'POST', body, credentials: 'include', mode: 'no-cors' } as const
      await fetch(target, plain).catch(() => undefined)
      const asked = { credentials: 'include', headers: { 'X-Jeton-Console': '1' } } as const
      await fetch(target, { ...asked, method: 'POST', body }).catch(() => undefined)
      const text = await fetch(target, { credentials: 'include' }).then(
        (answer) => answer.text(),
        () => 'unreadable',
      )
      const form = Object.assign(document.createElement('form'), { method: 'post', action: target })
      document.body.append(form)
      form.submit()
      return text
    }, url)
    await page.waitForURL(url)
    expect(read).toBe('unreadable')
    await expect.poll(() => answers).toContainEqual(expect.stringMatching(/^40\d POST cookie$/))
    expect(answers.filter((answer) => /^2\d\d (POST|OPTIONS)/.test(answer))).toEqual([])
    expect(await projects()).toBe(0)
    // The same request from a page of the service succeeds, so that the refusals above have no other reason.
    await page.goto('/console/')
    const own = await page.evaluate(async (target) => {
      const headers = { 'X-Jeton-Console': '1', 'content-type': 'application/json' }
      return (await fetch(target, { method: 'POST', headers, body: JSON.stringify({ name: 'Own' }) })).status
    }, url)
    expect([own, await projects()]).toEqual([201, 1])
    // Everything else that was found comes from the page on the other port.
    faults.found.splice(
      0,
      Number.POSITIVE_INFINITY,
      ...faults.found.filter((found) => found.startsWith('policy')),
    )
  })

  test('no other page can show the console in a frame', async () => {
    const foreign = await startForeignPage()
    const { page, faults } = await openBrowser(service.url, { expected: [/favicon/] })
    await page.goto(foreign)
    const isShown = await page.evaluate(async (address) => {
      const frame = Object.assign(document.createElement('iframe'), { src: address })
      const loaded = new Promise((resolve) => frame.addEventListener('load', resolve))
      document.body.append(frame)
      await loaded
      return frame.contentDocument !== null
    }, `${service.url}/console/`)
    expect(isShown).toBe(false)
    expect(page.frames()[1]?.url()).toBe('chrome-error://chromewebdata/')
    faults.found.length = 0
  })
})
