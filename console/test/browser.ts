import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
} from 'playwright-core'
import { describe, expect, inject, onTestFinished } from 'vitest'
import { type Credential, newSession } from '../../server/test/operators.ts'
import { OPERATOR } from '../../server/test/service.ts'

export const hasBrowser = inject('browserEndpoint') !== ''

/** Tests in a browser. Without one they are skipped. */
export const describeInBrowser = (title: string, define: () => void) =>
  describe.skipIf(!hasBrowser)(hasBrowser ? title : `${title} (skipped: Chromium is not installed)`, define)

/** Lists what no test may cause, unless it says so. */
export interface Faults {
  /** Errors of scripts, violations of the policy, and requests to other origins. */
  readonly found: string[]
  /** Patterns of `<status> <method> <path>` for refusals that the test causes on purpose. */
  readonly expected: RegExp[]
}

let connection: Promise<Browser> | undefined
const connect = (): Promise<Browser> => (connection ??= chromium.connect(inject('browserEndpoint')))

const FOUND = '__fault'

async function watch(context: BrowserContext, origin: string): Promise<Faults> {
  const faults: Faults = { found: [], expected: [] }
  await context.exposeFunction(FOUND, (text: string) => void faults.found.push(text))
  await context.addInitScript((name) => {
    document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI, sample }) => {
      const report = (window as unknown as Record<string, (text: string) => void>)[name]
      report?.(`policy violated: ${violatedDirective} ${blockedURI} ${sample}`)
    })
  }, FOUND)
  context.on('weberror', (error) => faults.found.push(`uncaught: ${error.error().stack}`))
  context.on('console', (message) => {
    // Answers that are errors are listed with their request below.
    const isError = message.type() === 'error' && !message.text().startsWith('Failed to load resource')
    if (isError || message.type() === 'warning') faults.found.push(`console: ${message.text()}`)
  })
  context.on('request', (request) => {
    const url = new URL(request.url())
    if (url.origin !== origin && url.protocol !== 'data:') faults.found.push(`left the origin: ${url.href}`)
  })
  context.on('response', (response) => {
    const { pathname } = new URL(response.url())
    const line = `${response.status()} ${response.request().method()} ${pathname}`
    if (response.status() >= 400 && !faults.expected.some((each) => each.test(line))) faults.found.push(line)
  })
  return faults
}

export interface OpenOptions extends BrowserContextOptions {
  /** Null opens the browser without a session. */
  readonly as?: Credential | null
  readonly expected?: readonly RegExp[]
}

export interface OpenBrowser {
  readonly page: Page
  readonly context: BrowserContext
  readonly faults: Faults
}

/**
 * A browser profile of its own with an open tab, signed in to the service. At the end of the test it is closed, and the test
 * fails if a script failed, the policy was violated, a request left the origin or was refused.
 */
export async function openBrowser(url: string, options: OpenOptions = {}): Promise<OpenBrowser> {
  const { as = OPERATOR, expected = [], ...more } = options
  const browser = await connect()
  const context = await browser.newContext({
    baseURL: url,
    locale: 'en-GB',
    timezoneId: 'UTC',
    reducedMotion: 'reduce',
    viewport: { width: 1280, height: 800 },
    ...more,
  })
  context.setDefaultTimeout(20_000)
  const faults = await watch(context, new URL(url).origin)
  faults.expected.push(...expected)
  if (as) await signInAs(context, url, as)
  onTestFinished(async () => {
    await context.close()
    expect(faults.found).toEqual([])
  })
  return { page: await context.newPage(), context, faults }
}

/** Gives the browser the cookie of a new session. */
export async function signInAs(context: BrowserContext, url: string, operator: Credential): Promise<void> {
  const [name = '', value = ''] = (await newSession(url, operator)).split('=')
  await context.addCookies([{ name, value, url, httpOnly: true, sameSite: 'Strict' }])
}
