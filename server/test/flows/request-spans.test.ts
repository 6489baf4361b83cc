import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { rmSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { systemClock } from '../../src/platform/clock.ts'
import { type CollectedSpan, type Collector, startCollector } from '../collector.ts'
import { newFolder } from '../command-line.ts'
import { sendRaw } from '../raw-http.ts'
import { startService, type TestService } from '../service.ts'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const PARENT = '00f067aa0ba902b7'
const SENT = `00-${TRACE}-${PARENT}-01`
const FORM = 'application/x-www-form-urlencoded'
const ISSUE = { grant_type: 'client_credentials', scope: 'vouchers' }
const VARIABLE = 'OTEL_EXPORTER_OTLP_ENDPOINT'

let folder: string
/** Spans of the same requests, with the fast path and without it. */
const spans: Record<'on' | 'off', readonly CollectedSpan[]> = { on: [], off: [] }
let parsedByNode: Record<'on' | 'off', number>

/** The exporter reads the variable from the environment when the service starts. */
async function startTraced(collector: Collector, fastPath: string): Promise<TestService> {
  const before = process.env[VARIABLE]
  process.env[VARIABLE] = collector.url
  try {
    const env = { JETON_DATA_DIR: folder, JETON_FAST_PATH: fastPath, [VARIABLE]: collector.url }
    return await startService(env, { clock: systemClock, worker: false })
  } finally {
    if (before === undefined) delete process.env[VARIABLE]
    else process.env[VARIABLE] = before
  }
}

async function collect(fastPath: 'on' | 'off'): Promise<void> {
  const collector = await startCollector()
  const service = await startTraced(collector, fastPath)
  const pair = await service.key((await service.project(`Club ${fastPath}`)).id)
  const keys = { 'x-app-id': pair.appId, 'x-app-token': pair.appToken, 'content-type': FORM }
  const post = (path: string, fields: Record<string, string>, traceparent?: string) =>
    sendRaw(service.url, {
      method: 'POST',
      path: `/v1/oauth/${path}`,
      headers: { ...keys, ...(traceparent && { traceparent }) },
      body: new URLSearchParams(fields).toString(),
    })
  const count = () => void parsedByNode[fastPath]++
  subscribe('http.server.request.start', count)
  const { access_token } = (await post('token', ISSUE)).body
  await post('token', ISSUE, SENT)
  await post('token', ISSUE, SENT.toUpperCase())
  await post('token', { ...ISSUE, scope: 'nonsense' }, SENT)
  await post('introspect', { token: access_token })
  await sendRaw(service.url, {
    path: '/gateway/authorize',
    headers: { authorization: `Bearer ${access_token}`, 'x-original-uri': '/v1/vouchers', traceparent: SENT },
  })
  unsubscribe('http.server.request.start', count)
  await service.stop()
  await collector.close()
  spans[fastPath] = collector.spans
}

beforeAll(async () => {
  folder = newFolder('request-spans')
  parsedByNode = { on: 0, off: 0 }
  await collect('on')
  await collect('off')
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const ofRequests = (all: readonly CollectedSpan[]) => all.filter(({ name }) => /oauth|gateway/.test(name))

test('the fast path and Fastify trace the same requests in the same way', () => {
  expect(parsedByNode).toEqual({ on: 0, off: 6 })
  const comparable = ({ name, kind, parentId, hasFailed, attributes }: CollectedSpan) => ({
    ...{ name, kind, parentId, hasFailed },
    attributes: { ...attributes, 'jeton.request_id': 'any' } as Record<string, unknown>,
  })
  const [fast, reference] = [ofRequests(spans.on).map(comparable), ofRequests(spans.off).map(comparable)]
  expect(fast).toEqual(reference)
  expect(
    fast.map(({ name, parentId, attributes }) => [name, parentId, attributes['http.response.status_code']]),
  ).toEqual([
    ['POST /v1/oauth/token', '', 200],
    ['POST /v1/oauth/token', PARENT, 200],
    ['POST /v1/oauth/token', '', 200],
    ['POST /v1/oauth/token', PARENT, 400],
    ['POST /v1/oauth/introspect', '', 200],
    ['GET /gateway/authorize', PARENT, 200],
  ])
})

test.each(['on', 'off'] as const)(
  'a batch of tokens is a trace with its size, the work of the store, and a link to each request (fast path %s)',
  (fastPath) => {
    const requests = ofRequests(spans[fastPath]).filter(
      ({ name, attributes }) =>
        name === 'POST /v1/oauth/token' && attributes['http.response.status_code'] === 200,
    )
    const batches = spans[fastPath].filter(({ name }) => name === 'issue tokens')
    expect(batches).toHaveLength(3)
    for (const [i, batch] of batches.entries()) {
      const { traceId, spanId } = requests[i]!
      expect(batch).toMatchObject({
        parentId: '',
        attributes: { 'jeton.batch.size': 1 },
        links: [{ traceId, spanId }],
      })
      const inStore = spans[fastPath].filter(({ parentId }) => parentId === batch.spanId)
      expect(inStore).toMatchObject([{ name: 'batch', traceId: batch.traceId }])
    }
  },
)
