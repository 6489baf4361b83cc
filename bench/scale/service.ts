import { freePort } from '../../server/test/free-port.ts'
import { redemptionData } from '../../server/test/reported-redemption.ts'
import { OPERATOR } from '../../server/test/service.ts'
import { type Answer, sendAll } from '../load/connection.ts'
import { Program } from '../program.ts'
import { type Client, type Headers, ISSUE_BODY, pairOf } from '../subject.ts'
import { BINARY } from '../subjects.ts'
import { ENCRYPTION_KEY } from './fill.ts'
import type { ScaleStore } from './store.ts'

const CONNECTIONS = 16
const OPERATOR_HEADERS = { 'x-management-id': OPERATOR.id, 'x-management-token': OPERATOR.token }

interface Request {
  readonly method: string
  readonly path: string
  readonly headers: Headers
  readonly body?: string | undefined
}

const SETTINGS = {
  JETON_ENCRYPTION_KEY: ENCRYPTION_KEY.toString('base64'),
  JETON_MANAGEMENT_ID: OPERATOR.id,
  JETON_MANAGEMENT_TOKEN: OPERATOR.token,
  JETON_WEBHOOK_ALLOW: '127.0.0.0/8',
  JETON_SAMPLE: 'off',
  JETON_LOG_LEVEL: 'warn',
  // Measured runs of retention remove the old events, not the service.
  JETON_RETENTION_DAYS: '3650',
}

/** A running `jeton serve`, with the requests of the trial. */
export class Service {
  readonly url: string
  readonly readyMs: number
  readonly #program: Program

  private constructor(program: Program, url: string, readyMs: number) {
    this.#program = program
    this.url = url
    this.readyMs = readyMs
  }

  static async start(store: ScaleStore): Promise<Service> {
    const url = `http://127.0.0.1:${await freePort()}`
    const home = { HOME: store.folder, XDG_CONFIG_HOME: store.folder }
    const env = { ...SETTINGS, ...store.env, ...home, JETON_PORT: new URL(url).port }
    const startedAt = performance.now()
    const program = new Program(process.execPath, [BINARY, 'serve'], env)
    await program.respondsAt(`${url}/health/ready`)
    return new Service(program, url, performance.now() - startedAt)
  }

  use() {
    return this.#program.use()
  }

  stop(): Promise<void> {
    return this.#program.stop()
  }

  /** Sends all requests and returns their responses. Every status other than 200 to 204 is an error. */
  async send(requests: readonly Request[], connections = CONNECTIONS): Promise<Answer[]> {
    const bytes = requests.map((request) => this.#bytesOf(request))
    const answers = await sendAll(this.url, bytes, connections).catch((error) => {
      throw new Error(`${requests[0]!.method} ${requests[0]!.path}: ${error.message}`)
    })
    const refused = answers.find(({ status }) => status < 200 || status > 204)
    if (refused) throw new Error(`refused with ${refused.status}: ${refused.body.slice(0, 300)}`)
    return answers
  }

  #bytesOf({ method, path, headers, body }: Request): string {
    const content = body === undefined ? [] : [`content-length: ${Buffer.byteLength(body)}`]
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
    const head = [`${method} ${path} HTTP/1.1`, `host: ${new URL(this.url).host}`, ...lines, ...content]
    return [...head, '', body ?? ''].join('\r\n')
  }

  async manage<Body = Record<string, string>>(method: string, path: string, body?: object): Promise<Body> {
    const [answer] = await this.send([managed(method, path, body)])
    return (answer!.body === '' ? undefined : JSON.parse(answer!.body)) as Body
  }
}

const JSON_TYPE = { 'content-type': 'application/json' }
const FORM_TYPE = { 'content-type': 'application/x-www-form-urlencoded' }

export const managed = (method: string, path: string, body?: object): Request => ({
  ...{ method, path: `/management/v1${path}` },
  headers: { ...OPERATOR_HEADERS, ...(body && JSON_TYPE) },
  body: body && JSON.stringify(body),
})

const form = (path: string, client: Client, body: string): Request => ({
  ...{ method: 'POST', path, body },
  headers: { ...FORM_TYPE, ...pairOf(client) },
})

export interface Issued {
  readonly client: Client
  readonly token: string
}

export const issue = (client: Client): Request => form('/v1/oauth/token', client, ISSUE_BODY)
export const introspect = ({ client, token }: Issued): Request =>
  form('/v1/oauth/introspect', client, `token=${token}`)
export const revoke = ({ client, token }: Issued): Request =>
  form('/v1/oauth/revoke', client, `token=${token}`)
export const gateway = ({ token }: Issued): Request => ({
  ...{ method: 'GET', path: '/gateway/authorize' },
  headers: { 'x-original-uri': '/v1/rewards/x', authorization: `Bearer ${token}` },
})

export const webhook = (target_url: string): object => ({
  target_url,
  events: ['customer.reward_redemptions.completed'],
})

/** Requests are sent as bytes of one character each. */
const DATA = JSON.stringify(redemptionData()).replace(/[^\x20-\x7e]/g, '?')
let reports = 0

/** A redemption that was completed elsewhere: one event. */
export const report = (client: Client): Request => ({
  ...{ method: 'POST', path: '/v1/redemptions/rewards' },
  headers: { ...JSON_TYPE, ...pairOf(client) },
  body: `{"source_id":"${process.pid}-${++reports}","data":${DATA}}`,
})

export const redeem = (
  client: Client,
  shop: { campaignId: string; rewardId: string },
  card: string,
): Request => ({
  ...{ method: 'POST', path: `/v1/loyalties/${shop.campaignId}/members/${card}/redemption` },
  headers: { ...JSON_TYPE, ...pairOf(client) },
  body: JSON.stringify({ reward: { id: shop.rewardId } }),
})

export const tokensOf = (clients: readonly Client[], answers: readonly Answer[]): Issued[] =>
  answers.map(({ body }, i) => ({ client: clients[i]!, token: JSON.parse(body).access_token }))

/** `count` items, in turn. */
export const rotate = <T>(items: readonly T[], count: number): T[] =>
  Array.from({ length: count }, (_, i) => items[i % items.length]!)
