import { afterEach, describe, expect, test } from 'vitest'
import { eachEngine } from '../engines.ts'
import { Fleet } from '../faults/fleet.ts'
import { asForm, asJson, asPair, HttpClient, type HttpRequest } from '../faults/http-client.ts'
import { TEST_TIMEOUT_MS } from '../faults/run-settings.ts'
import { type Receiver, startReceiver } from '../receiver.ts'
import { redemptionData } from '../reported-redemption.ts'
import { type Client, clientOf, type Pair, send } from '../service.ts'

const PROCESSES = 3
const KILLED = 2
const REQUESTS_PER_HALF = 5_000
const CONNECTIONS = 6
const COUNTED = ['tokens_issued', 'introspections', 'calls', 'refusals', 'redemptions'] as const
type Counted = (typeof COUNTED)[number]
type Counts = Record<Counted, number>

/** Sends everything to one process and in one project, so that the usage of the project is that of the process. */
interface Traffic {
  readonly projectId: string
  readonly acknowledged: Counts
  readonly reasons: Record<string, number>
  /** Requests that the process may have counted, though no response came. */
  unanswered: number
  /** Sends one request; false once the process has gone. */
  next(): Promise<boolean>
}

/** A request with what its process counts, by the status of the response. */
type Step = readonly [HttpRequest, Readonly<Record<number, readonly (Counted | { refusal: string })[]>>]

async function openTraffic(client: Client, http: HttpClient, target: string): Promise<Traffic> {
  const { id: projectId } = await client.project(`Project of ${client.url}`)
  const [key, blocked] = [await client.key(projectId), await client.key(projectId)]
  await client.manage('POST', `${blocked.path}/block`)
  await client.manage('POST', `/projects/${projectId}/webhooks`, {
    target_url: target,
    events: ['customer.reward_redemptions.completed'],
  })
  let token = ''
  let sent = 0
  const acknowledged: Counts = {
    tokens_issued: 0,
    introspections: 0,
    calls: 0,
    refusals: 0,
    redemptions: 0,
  }
  const post = (path: string, pair: Pair, fields: Record<string, string>): HttpRequest => {
    const form = asForm(fields)
    return { path, ...form, headers: { ...form.headers, ...asPair(pair) } }
  }
  const issue = (pair: Pair) =>
    post('/v1/oauth/token', pair, { grant_type: 'client_credentials', scope: 'vouchers' })
  const authorize = (path: string): HttpRequest => ({
    path: '/gateway/authorize',
    headers: { authorization: `Bearer ${token}`, 'x-original-uri': path },
  })
  /** Above 20 per minute they are throttled, and still counted by their reason. */
  const wrong: Step[1] = { 401: [{ refusal: 'secret_wrong' }], 429: [{ refusal: 'secret_wrong' }] }
  const steps: readonly (() => Step)[] = [
    () => [issue(key), { 200: ['tokens_issued'], 429: [{ refusal: 'project_limit' }] }],
    () => [post('/v1/oauth/introspect', key, { token }), { 200: ['introspections'] }],
    () => [authorize('/v1/vouchers'), { 200: ['calls'] }],
    () => [authorize('/v1/campaigns'), { 403: [{ refusal: 'scope_insufficient' }] }],
    () => [{ path: '/v1/rewards', headers: asPair(key) }, { 200: ['calls'] }],
    () => [issue({ ...key, appToken: 'wrong' }), wrong],
    () => [issue(blocked), { 401: [{ refusal: 'key_blocked' }] }],
    () => {
      const { headers, ...report } = asJson({ source_id: `report-${sent}`, data: redemptionData() })
      const request = { path: '/v1/redemptions/rewards', ...report, headers: { ...headers, ...asPair(key) } }
      return [request, { 200: ['calls', 'redemptions'] }]
    },
  ]
  const traffic: Traffic = {
    projectId,
    acknowledged,
    reasons: {},
    unanswered: 0,
    async next() {
      const [request, counts] = steps[token === '' ? 0 : sent++ % steps.length]!()
      const { status, body, text } = await http.send(client.url, request)
      if (status === 0) {
        traffic.unanswered++
        return false
      }
      const counted = counts[status]
      if (!counted) throw new Error(`${request.path} answered ${status} ${text}`)
      for (const one of counted) {
        acknowledged[typeof one === 'string' ? one : 'refusals']++
        if (typeof one === 'object') traffic.reasons[one.refusal] = (traffic.reasons[one.refusal] ?? 0) + 1
      }
      if (body?.access_token && status === 200 && request.path === '/v1/oauth/token')
        token = body.access_token
      return true
    },
  }
  await traffic.next()
  return traffic
}

/** Sends so many requests over several connections to each process, those of a killed process to the others. */
async function run(traffics: readonly Traffic[], requests: number, atHalf: () => void): Promise<void> {
  let left = requests
  const keepSending = async (traffic: Traffic) => {
    while (left-- > 0) {
      if (left === requests / 2) atHalf()
      if (!(await traffic.next())) return
    }
  }
  await Promise.all(
    traffics.flatMap((traffic) => Array.from({ length: CONNECTIONS }, () => keepSending(traffic))),
  )
}

/** Sum of the lines of a metric whose labels match. */
function sumOf(metrics: string, name: string, labels = /^/): number {
  const lines = metrics.matchAll(new RegExp(`^${name}(\\{[^}]*\\})? (\\S+)$`, 'gm'))
  return [...lines].reduce((sum, [, own = '', value]) => sum + (labels.test(own) ? Number(value) : 0), 0)
}

eachEngine((engine) => {
  describe('usage of three processes', () => {
    let fleet: Fleet
    let receiver: Receiver
    const http = new HttpClient()
    afterEach(async () => {
      http.close()
      await fleet.end()
      await receiver.close()
    })

    test(
      'usage equals what clients counted in 10,000 requests and what Prometheus shows, and a killed process loses only its last seconds',
      async () => {
        receiver = await startReceiver()
        fleet = await Fleet.start((await engine.freshStore()).env, PROCESSES)
        const clients = fleet.urls().map(clientOf)
        const traffics = []
        for (const client of clients) traffics.push(await openTraffic(client, http, receiver.url))

        /** Reads usage after every process of these has added its counts. */
        async function usage(asked: readonly Client[], path: string): Promise<number> {
          for (const client of asked) await client.manage('GET', '/usage')
          return (await asked[0]!.manage('GET', path)).body.total
        }
        const countsOf = async (asked: readonly Client[], { projectId }: Traffic): Promise<Counts> => {
          const entries = COUNTED.map(async (metric) => [
            metric,
            await usage(asked, `/projects/${projectId}/usage?metric=${metric}`),
          ])
          return Object.fromEntries(await Promise.all(entries))
        }
        const metricsOf = async (asked: readonly Client[]) =>
          (await Promise.all(asked.map(({ url }) => send(`${url}/metrics`))))
            .map(({ text }) => text)
            .join('\n')
        const service = (asked: readonly Client[], metric: string) => usage(asked, `/usage?metric=${metric}`)

        await run(traffics, REQUESTS_PER_HALF, () => undefined)
        for (const traffic of traffics)
          await expect.poll(() => countsOf(clients, traffic)).toEqual(traffic.acknowledged)
        const redemptions = traffics.reduce((sum, { acknowledged }) => sum + acknowledged.redemptions, 0)
        await expect.poll(() => service(clients, 'deliveries')).toBe(redemptions)
        expect(receiver.received).toHaveLength(redemptions)

        const shown = await metricsOf(clients)
        const requests = (status: RegExp) => sumOf(shown, 'jeton_http_request_duration_seconds_count', status)
        expect({
          tokens_issued: sumOf(shown, 'jeton_tokens_issued_total'),
          introspections: sumOf(shown, 'jeton_introspections_total'),
          deliveries: sumOf(shown, 'jeton_delivery_attempts_total'),
          refusals: requests(/status="(401|403|429)"/),
        }).toEqual({
          tokens_issued: await service(clients, 'tokens_issued'),
          introspections: await service(clients, 'introspections'),
          deliveries: await service(clients, 'deliveries'),
          refusals: await service(clients, 'refusals'),
        })

        const killed = { traffic: traffics[KILLED]!, before: structuredClone(traffics[KILLED]!.acknowledged) }
        const attemptsOf = async (asked: readonly Client[]) =>
          sumOf(await metricsOf(asked), 'jeton_delivery_attempts_total')
        const sentBefore = await attemptsOf([clients[KILLED]!])
        await run(traffics, REQUESTS_PER_HALF, () => void fleet.kill(KILLED))
        expect(killed.traffic.unanswered).toBeGreaterThan(0)

        const [left, leftTraffics] = [clients.slice(0, KILLED), traffics.slice(0, KILLED)]
        for (const traffic of leftTraffics) {
          await expect.poll(() => countsOf(left, traffic)).toEqual(traffic.acknowledged)
          const { body } = await left[0]!.manage(
            'GET',
            `/projects/${traffic.projectId}/usage?metric=refusals&by=reason`,
          )
          const reasons = body.series.map(({ key, total }: { key: string; total: number }) => [key, total])
          expect(Object.fromEntries(reasons)).toEqual(traffic.reasons)
        }
        const { before, traffic } = killed
        const counted = await countsOf(left, traffic)
        for (const metric of COUNTED) {
          expect(counted[metric], metric).toBeGreaterThanOrEqual(before[metric])
          expect(counted[metric], metric).toBeLessThanOrEqual(
            traffic.acknowledged[metric] + traffic.unanswered,
          )
        }
        // Attempts of the killed process that were added: at least those before, at most all that arrived.
        const added = async () => (await service(left, 'deliveries')) - (await attemptsOf(left))
        await expect.poll(added).toBeGreaterThanOrEqual(sentBefore)
        expect(await service(left, 'deliveries')).toBeLessThanOrEqual(receiver.received.length)
        expect(fleet.crashes).toEqual([])
      },
      TEST_TIMEOUT_MS,
    )
  })
})
