import { compose, type Service } from '../src/app/compose.ts'
import { createSample } from '../src/app/first-start.ts'
import type { Clock } from '../src/platform/clock.ts'
import { readConfig, serviceSettings } from '../src/platform/config/index.ts'
import type { SupervisorLink } from '../src/platform/http-processes/index.ts'
import { createLog, type Log } from '../src/platform/log.ts'
import { FAST_PATH } from './fast-path-setting.ts'
import { TestClock } from './test-clock.ts'

export const OPERATOR = { id: 'tester', token: 'a-management-token-of-at-least-32-characters' }

/** A response with its complete body. */
// biome-ignore lint/suspicious/noExplicitAny: tests inspect bodies of any shape
export interface Answer<Body = any> {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** Undefined if the body is not JSON. */
  readonly body: Body
}

export interface Pair {
  readonly appId: string
  readonly appToken: string
}

export async function send(url: string, init: RequestInit = {}): Promise<Answer> {
  const response = await fetch(url, { redirect: 'manual', ...init })
  const text = await response.text()
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    body = undefined
  }
  return { status: response.status, headers: response.headers, text, body }
}

/** Sends requests as clients do, over real sockets. */
export function clientOf(url: string) {
  const operatorHeaders = { 'x-management-id': OPERATOR.id, 'x-management-token': OPERATOR.token }

  async function manage(method: string, path: string, body?: unknown): Promise<Answer> {
    const headers: Record<string, string> = { ...operatorHeaders }
    if (body !== undefined) headers['content-type'] = 'application/json'
    return send(`${url}/management/v1${path}`, {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
  }

  /** Posts a form. `pair` goes into X-App-Id and X-App-Token. */
  async function form(
    path: string,
    fields: Record<string, string>,
    pair?: Pair,
    headers: Record<string, string> = {},
  ) {
    const own = pair && { 'x-app-id': pair.appId, 'x-app-token': pair.appToken }
    return send(url + path, {
      method: 'POST',
      headers: { ...own, ...headers },
      body: new URLSearchParams(fields),
    })
  }

  return {
    url,
    manage,
    form,
    issue: (pair: Pair, scope = 'vouchers', headers?: Record<string, string>) =>
      form('/v1/oauth/token', { grant_type: 'client_credentials', scope }, pair, headers),
    introspect: (pair: Pair, token: string, extra: Record<string, string> = {}) =>
      form('/v1/oauth/introspect', { token, ...extra }, pair),
    /** Creates a project. */
    async project(name: string) {
      const { body } = await manage('POST', '/projects', { name })
      return body as { id: string; name: string }
    },
    async key(projectId: string, fields: Record<string, unknown> = {}) {
      const { body } = await manage('POST', `/projects/${projectId}/api-keys`, { name: 'key', ...fields })
      const key = body as { id: string; client_id: string; app_id: string; app_token: string }
      return {
        ...key,
        appId: key.app_id,
        appToken: key.app_token,
        path: `/projects/${projectId}/api-keys/${key.id}`,
      }
    },
  }
}

export type Client = ReturnType<typeof clientOf>

export interface TestService extends Client {
  readonly service: Service
  readonly managementUrl: string
  stop(): Promise<void>
}

export const silentLog = (): Log => createLog({ level: 'silent', readable: false })

interface StartOptions {
  readonly clock: Clock
  readonly log?: Log
  readonly sample?: boolean
  readonly worker?: boolean
  /** The link to the other HTTP processes, if the service has several. */
  readonly supervisorLink?: SupervisorLink
}

/** The whole service in this process, on a free port. With a TestClock its background work runs when the test moves the time. */
export async function startService(
  env: Readonly<Record<string, string>>,
  { clock, log = silentLog(), sample = false, worker = true, supervisorLink }: StartOptions,
): Promise<TestService> {
  const environment = {
    JETON_PORT: '0',
    JETON_MANAGEMENT_ID: OPERATOR.id,
    JETON_MANAGEMENT_TOKEN: OPERATOR.token,
    JETON_SAMPLE: 'off',
    // The default allocates memory for 100,000 tokens, which is a fifth of the cost of a start.
    JETON_CACHE_TOKENS: '5000',
    ...FAST_PATH,
    ...env,
  }
  const config = readConfig(environment)
  const settings = serviceSettings(environment)
  const service = await compose({ config, settings, clock, log, interactive: false, worker, supervisorLink })
  if (sample) await createSample(service.db, config)
  const { url, managementUrl } = await service.start()
  return {
    ...clientOf(url),
    service,
    managementUrl,
    async stop() {
      const stopping = service.stop()
      // A shutdown waits for its grace period on the same clock.
      if (clock instanceof TestClock) await Promise.race([stopping, moveUntil(clock, stopping)])
      await stopping
    },
  }
}

/** Moves the time until the promise settles. */
export async function moveUntil(clock: TestClock, done: Promise<unknown>): Promise<void> {
  let over = false
  void done.finally(() => (over = true))
  while (!over) await clock.advance(100)
}
