import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { makeHome, type Running, serveBinary } from '../binary.ts'
import { queriesOf, readDashboard, withVariables } from '../dashboard.ts'
import { readDocument } from '../documents.ts'
import {
  ALERTS,
  hasPrometheus,
  PROMETHEUS_MISSING,
  type Prometheus,
  type Result,
  startPrometheus,
} from '../prometheus.ts'
import { type Receiver, startReceiver } from '../receiver.ts'
import { redemptionData } from '../reported-redemption.ts'
import { clientOf, OPERATOR, type Pair, send } from '../service.ts'

const SETTINGS = {
  JETON_WORKERS: '2',
  JETON_MANAGEMENT_ID: OPERATOR.id,
  JETON_MANAGEMENT_TOKEN: OPERATOR.token,
  JETON_SAMPLE: 'off',
  JETON_WEBHOOK_ALLOW: '127.0.0.0/8',
}
const EVENTS = ['customer.reward_redemptions.completed']
/** More than a receiver without an answer gets at a time, so that the rest is due in the store. */
const BACKLOG = 60
const PAUSE_MS = 100

interface Load {
  readonly projectId: string
  readonly issued: () => number
  stop(): Promise<void>
}

/** Sends every kind of request once per round until it is stopped: tokens, refusals, calls and redemptions. */
async function startLoad(url: string, receivers: readonly Receiver[]): Promise<Load> {
  const client = clientOf(url)
  const { id: projectId } = await client.project('Load')
  const key = await client.key(projectId, { permissions: ['vouchers', 'redemptions'] })
  const limited = await client.key(projectId, { permissions: ['vouchers'], token_limit: 1 })
  for (const { url: target_url } of receivers) {
    const hook = { target_url, events: EVENTS }
    expect((await client.manage('POST', `/projects/${projectId}/webhooks`, hook)).status).toBe(201)
  }
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
  let [issued, reported] = [0, 0]
  const report = ({ appId, appToken }: Pair) =>
    send(`${url}/v1/redemptions/rewards`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-app-id': appId, 'x-app-token': appToken },
      body: JSON.stringify({ source_id: `r.${reported++}`, data: redemptionData() }),
    })
  async function round(): Promise<void> {
    for (const pair of [key, limited]) if ((await client.issue(pair)).status === 200) issued++
    const { body } = await client.issue(key)
    issued++
    await client.introspect(key, body.access_token)
    await client.introspect(key, 'jtn_unknown')
    await client.issue(key, 'nonsense')
    await client.issue({ appId: 'unknown', appToken: 'unknown' })
    const uri = { 'x-original-uri': '/v1/vouchers' }
    for (const headers of [bearer(body.access_token), bearer('jtn_unknown')])
      await send(`${url}/gateway/authorize`, { headers: { ...uri, ...headers } })
    expect((await report(key)).status).toBeLessThan(300)
  }
  await Promise.all(Array.from({ length: BACKLOG }, () => report(key)))
  let isStopping = false
  async function run(): Promise<void> {
    while (!isStopping) {
      await round()
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
    }
  }
  const running = run()
  return {
    projectId,
    issued: () => issued,
    async stop() {
      isStopping = true
      await running
    },
  }
}

const hasValue = (results: readonly Result[]): boolean =>
  results.some(({ value: [, text] }) => Number.isFinite(Number(text)))

describe.skipIf(!hasPrometheus)(
  `Prometheus that scrapes a service under load${hasPrometheus ? '' : PROMETHEUS_MISSING}`,
  () => {
    const home = makeHome()
    const receivers: Receiver[] = []
    let service: Running & { url: string }
    let prometheus: Prometheus
    let load: Load

    beforeAll(async () => {
      for (let i = 0; i < 3; i++) receivers.push(await startReceiver())
      receivers[1]!.answer = () => ({ status: 500 })
      receivers[2]!.answer = () => null
      service = await serveBinary({ home: home.folder, env: SETTINGS })
      prometheus = await startPrometheus([new URL(service.url).host])
      load = await startLoad(service.url, receivers)
    })
    afterAll(async () => {
      await load?.stop()
      await prometheus?.stop()
      await service?.stop('SIGKILL')
      for (const receiver of receivers) await receiver.close()
      home.remove()
    })

    test('every query of the dashboard has an answer with a value', async () => {
      const queries = queriesOf(readDashboard())
      expect(queries.length).toBeGreaterThan(30)
      for (const { title, expr } of queries)
        await expect
          .poll(async () => hasValue(await prometheus.query(withVariables(expr))), {
            timeout: 60_000,
            message: `${title}: ${expr}`,
          })
          .toBe(true)
    })

    test('the variables of the dashboard list the job and the project', async () => {
      for (const [label, value] of [
        ['job', 'jeton'],
        ['project', load.projectId],
      ] as const) {
        const { query } = readDashboard().templating.list.find(({ name }) => name === label)!
        const { query: text } = query as { query: string }
        const [, match, name] = /^label_values\((.+), (\w+)\)$/.exec(text)!
        expect(await prometheus.api(`label/${name}/values`, { 'match[]': match! })).toContain(value)
      }
    })

    test('every alert rule parses and evaluates without an error', async () => {
      const rules = parse(readDocument(ALERTS).text).groups[0].rules as { alert: string; expr: string }[]
      for (const { expr } of rules) expect(await prometheus.query(expr)).toBeInstanceOf(Array)
      const { groups } = await prometheus.api('rules')
      const states = groups[0].rules.map(
        ({ name, health, lastError }: { name: string; health: string; lastError?: string }) =>
          [name, health, lastError].join(' '),
      )
      expect(states).toEqual(rules.map(({ alert }) => `${alert} ok `))
    })

    test('the token limit of a key that is reached fires an alert that names the project', async () => {
      const firing = async () => {
        const { alerts } = await prometheus.api('alerts')
        return alerts.find(
          (one: { labels: { alertname: string } }) => one.labels.alertname === 'JetonTokenLimitReached',
        )
      }
      await expect.poll(firing).toMatchObject({ state: 'firing', labels: { project: load.projectId } })
    })

    test('two HTTP processes report the tokens of a project as their sum', async () => {
      await load.stop()
      const shown = async () =>
        Number(
          (await prometheus.query(`jeton_tokens_issued_total{project="${load.projectId}"}`))[0]?.value[1],
        )
      await expect.poll(shown).toBe(load.issued())
    })
  },
)
