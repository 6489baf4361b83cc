/**
 * Writes screenshots of the main pages to docs/images. A service runs an hour of demo traffic on a clock of its own, so that
 * charts are full and problems have an age. Needs Chromium.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { chromium, type Page } from 'playwright-core'
import { callApi, type Session } from '../../server/src/cli/call-api.ts'
import { type DemoProject, openDemo } from '../../server/src/cli/demo/demo-project.ts'
import { DemoTraffic } from '../../server/src/cli/demo/demo-traffic.ts'
import { startReceiver } from '../../server/src/cli/live/local-receiver.ts'
import { newSession } from '../../server/test/operators.ts'
import { OPERATOR, startService, type TestService } from '../../server/test/service.ts'
import { TestClock } from '../../server/test/test-clock.ts'

const IMAGES = fileURLToPath(new URL('../../docs/images/', import.meta.url))
const MAX_BYTES = 300 * 1024
const MINUTES = 75
const STEP_MS = 4_000
const TICK_MS = 500
/** The receiver is down for some steps, so that some deliveries arrive by a retry. */
const DOWN = { every: 200, last: 20 }

const folder = mkdtempSync(join(tmpdir(), 'jeton-screenshots-'))
const clock = new TestClock(Date.now() - MINUTES * 60_000)
const env = {
  JETON_DATA_DIR: folder,
  JETON_ENCRYPTION_KEY: Buffer.alloc(32, 9).toString('base64'),
  JETON_WEBHOOK_ALLOW: '127.0.0.0/8',
}

function sessionOf({ url }: TestService): Session {
  const connection = { url, apiUrl: url, credential: () => ({ ...OPERATOR, from: 'here' }) }
  return { connection, call: (request) => callApi(connection as never, request) } as Session
}

/** More requests in some minutes than in others, as in a shop. */
async function runTraffic(service: TestService): Promise<DemoProject> {
  const receiver = await startReceiver()
  const session = sessionOf(service)
  const project = await openDemo(session, receiver.url)
  const traffic = new DemoTraffic(session, project)
  const end = Date.now() - STEP_MS
  for (let turn = 0, step = 0; clock.now() < end; turn++) {
    receiver.isDown = turn % DOWN.every >= DOWN.every - DOWN.last
    const busy = 1 + Math.round(1.5 + 1.5 * Math.sin(turn / 40))
    for (let i = 0; i < busy; i++) await traffic.step(step++)
    for (let moved = 0; moved < STEP_MS; moved += TICK_MS) {
      await clock.advance(TICK_MS)
      // Lets deliveries finish before the time moves on.
      await wait(5)
    }
  }
  receiver.isDown = false
  await receiver.close()
  return project
}

/** Addresses of the pages, with the subjects that show most. */
async function pagesOf(service: TestService, { id, keys }: DemoProject): Promise<Record<string, string>> {
  const path = `/projects/${id}`
  const list = async (what: string) => (await service.manage('GET', `${path}/${what}`)).body.data
  const [key] = await list(`api-keys?app_id=${keys.checkout!['x-app-id']}`)
  const webhooks = await list('webhooks')
  const failing = webhooks.find((each: { target_url: string }) =>
    each.target_url.includes('receiver.invalid'),
  )
  const [delivery] = await list(`deliveries?destination=${failing.id}&state=failing&limit=25`)
  const [refused] = await list(`api-keys?app_id=${keys['pos-gateway']!['x-app-id']}`)
  const access = new URLSearchParams({ key: refused.id, path: '/v1/campaigns' })
  return {
    overview: `${path}/overview`,
    'api-key': `${path}/api-keys/${key.id}`,
    event: `${path}/events/${delivery.event_id}`,
    destination: `${path}/destinations/${failing.id}`,
    access: `${path}/access?${access}`,
  }
}

/** In twice the resolution if the file stays small. */
async function save(page: Page, name: string): Promise<void> {
  const sharp = await page.screenshot({ scale: 'device' })
  const image = sharp.length <= MAX_BYTES ? sharp : await page.screenshot({ scale: 'css' })
  writeFileSync(join(IMAGES, `console-${name}.png`), image)
  process.stdout.write(`docs/images/console-${name}.png ${Math.round(image.length / 1024)} KB\n`)
}

mkdirSync(IMAGES, { recursive: true })
const service = await startService(env, { clock })
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium' })
try {
  const project = await runTraffic(service)
  const context = await browser.newContext({
    baseURL: service.url,
    viewport: { width: 1440, height: 900 },
    deviceScaleFactor: 2,
    colorScheme: 'light',
    reducedMotion: 'reduce',
    locale: 'en-GB',
  })
  const [name = '', value = ''] = (await newSession(service.url, OPERATOR)).split('=')
  await context.addCookies([{ name, value, url: service.url }])
  const page = await context.newPage()
  for (const [title, path] of Object.entries(await pagesOf(service, project))) {
    await page.goto(`/console${path}`)
    await page.locator('main h1').first().waitFor()
    await page.waitForLoadState('networkidle')
    // On a busy machine the network is idle between two requests of the page.
    while ((await page.locator('.skeleton').count()) > 0) await wait(100)
    await save(page, title)
  }
} finally {
  await browser.close()
  await service.stop()
  rmSync(folder, { recursive: true, force: true })
}
