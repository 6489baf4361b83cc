import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect } from 'vitest'
import { jeton, newFolder, type Ran, type Surroundings } from './command-line.ts'
import type { TestEngine } from './engines.ts'
import { apiOf, ok } from './loyalty.ts'
import { OPERATOR, startService, type TestService } from './service.ts'
import { TestClock } from './test-clock.ts'

export const EVENT = 'customer.reward_redemptions.completed'
export const HEADER = 'a-header-value-that-must-not-appear'
const SECRETS = /(?:jt[almns]|whsec)_\w{16,}|a-header-value/

/** `CLUB` stands for the name of the project of the test. */
export const BASIC = `
projects:
  - name: CLUB
    keys:
      - name: till
        permissions: [loyalties, rewards]
        ip_whitelist: [10.0.0.0/8]
        token_limit: 100
    webhooks:
      - name: crm
        target_url: https://crm.example.com/hook
        events: [${EVENT}]
`
export const WITH_DISTRIBUTION = `${BASIC}
      - target_url: https://second.example.com/hook
        events: [${EVENT}]
        description: without a name
    distributions:
      - name: Redeemed
        campaign: Gold
        target_url: https://mail.example.com/hook
        event_name: reward.redeemed
        headers:
          authorization: Bearer \${CRM_TOKEN}
`

export const startOn = (env: Readonly<Record<string, string>>): Promise<TestService> =>
  startService(
    { ...env, JETON_ENCRYPTION_KEY: Buffer.alloc(32, 9).toString('base64') },
    { clock: new TestClock(), worker: false },
  )

/** A service for a test file, and for each test a folder with a file for `jeton apply` and a project name of its own. */
export class Club {
  service!: TestService
  folder = ''
  file = ''
  secretsFile = ''
  name = ''
  readonly #printed: string[] = []
  #made = 0

  constructor(engine: TestEngine) {
    beforeAll(async () => {
      this.service = await startOn(await engine.settings())
    })
    // No command may print a secret, in any test.
    afterAll(async () => {
      await this.service.stop()
      expect(this.#printed.join('')).not.toMatch(SECRETS)
    })
    beforeEach(() => {
      this.folder = newFolder('apply')
      this.file = join(this.folder, 'jeton.yaml')
      this.secretsFile = join(this.folder, 'jeton.secrets.jsonl')
      this.rename()
      return () => rmSync(this.folder, { recursive: true, force: true })
    })
  }

  /** Chooses another name for the project. */
  rename(): void {
    this.name = `Club ${++this.#made}`
  }

  around(more: Partial<Surroundings> = {}, url = this.service.url): Surroundings {
    return {
      ...more,
      env: {
        JETON_URL: url,
        JETON_MANAGEMENT_ID: OPERATOR.id,
        JETON_MANAGEMENT_TOKEN: OPERATOR.token,
        XDG_CONFIG_HOME: this.folder,
        NO_COLOR: '1',
        CRM_TOKEN: HEADER,
        ...more.env,
      },
    }
  }

  async run(argv: readonly string[], more?: Partial<Surroundings>, url?: string): Promise<Ran> {
    const ran = await jeton(argv, this.around(more, url))
    this.#printed.push(ran.out, ran.err)
    return ran
  }

  apply(flags: readonly string[] = [], more?: Partial<Surroundings>): Promise<Ran> {
    return this.run(['apply', '-f', this.file, ...flags], more)
  }

  write(text: string): void {
    writeFileSync(this.file, text.replaceAll('CLUB', this.name))
  }

  /** The lines of the file of secrets, without those that were cut. */
  secrets(): Record<string, string>[] {
    return readFileSync(this.secretsFile, 'utf8')
      .trim()
      .split('\n')
      .filter((line) => line.endsWith('}'))
      .map((line) => JSON.parse(line))
  }

  secretOf(name: string): Record<string, string> {
    return this.secrets().findLast((line) => line.name === name && line.outcome === 'created')!
  }

  async projectId(): Promise<string> {
    const path = `/projects?name=${encodeURIComponent(this.name)}`
    return (await this.service.manage('GET', path)).body.data[0]?.id
  }

  async list(noun: string) {
    const path = `/projects/${await this.projectId()}/${noun}?limit=100`
    return (await this.service.manage('GET', path)).body.data
  }
}

export const createCampaign = (name: string, { url, pair }: { url: string; pair: Record<string, string> }) =>
  ok(
    apiOf(url, { appId: pair.app_id!, appToken: pair.app_token! })('POST', '/loyalties', {
      name,
      voucher: { type: 'LOYALTY_CARD', loyalty_card: { points: 0 } },
    }),
  )
