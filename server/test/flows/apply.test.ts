import {
  chmodSync,
  existsSync,
  linkSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startChangingProxy } from '../changing-proxy.ts'
import { jeton, newFolder, type Ran, type Surroundings, startJeton } from '../command-line.ts'
import { eachEngine } from '../engines.ts'
import { apiOf, ok } from '../loyalty.ts'
import { OPERATOR, startService, type TestService } from '../service.ts'
import { TestClock } from '../test-clock.ts'

const EVENT = 'customer.reward_redemptions.completed'
const HEADER = 'a-header-value-that-must-not-appear'
const SECRETS = /(?:jt[almns]|whsec)_\w{16,}|a-header-value/

eachEngine((engine) => {
  let service: TestService
  let folder: string
  let file: string
  let secretsFile: string
  let club: string
  let made = 0
  const printed: string[] = []

  beforeAll(async () => {
    service = await startOn(await engine.settings())
  })
  afterAll(async () => {
    await service.stop()
    expect(printed.join('')).not.toMatch(SECRETS)
  })
  beforeEach(() => {
    folder = newFolder('apply')
    file = join(folder, 'jeton.yaml')
    secretsFile = join(folder, 'jeton.secrets.jsonl')
    club = `Club ${++made}`
    return () => rmSync(folder, { recursive: true, force: true })
  })

  const startOn = (env: Readonly<Record<string, string>>) =>
    startService(
      { ...env, JETON_ENCRYPTION_KEY: Buffer.alloc(32, 9).toString('base64') },
      { clock: new TestClock(), worker: false },
    )

  const around = (more: Partial<Surroundings> = {}, url = service.url): Surroundings => ({
    ...more,
    env: {
      JETON_URL: url,
      JETON_MANAGEMENT_ID: OPERATOR.id,
      JETON_MANAGEMENT_TOKEN: OPERATOR.token,
      XDG_CONFIG_HOME: folder,
      NO_COLOR: '1',
      CRM_TOKEN: HEADER,
      ...more.env,
    },
  })
  async function run(argv: readonly string[], more?: Partial<Surroundings>, url?: string): Promise<Ran> {
    const ran = await jeton(argv, around(more, url))
    printed.push(ran.out, ran.err)
    return ran
  }
  const apply = (flags: readonly string[] = [], more?: Partial<Surroundings>) =>
    run(['apply', '-f', file, ...flags], more)
  const write = (text: string) => writeFileSync(file, text.replaceAll('CLUB', club))
  const secrets = (): Record<string, string>[] =>
    readFileSync(secretsFile, 'utf8')
      .trim()
      .split('\n')
      .filter((line) => line.endsWith('}'))
      .map((line) => JSON.parse(line))
  const secretOf = (name: string) =>
    secrets()
      .filter((line) => line.name === name && line.outcome === 'created')
      .at(-1)!
  const projectId = async (): Promise<string> =>
    (await service.manage('GET', `/projects?name=${encodeURIComponent(club)}`)).body.data[0]?.id
  const list = async (noun: string) =>
    (await service.manage('GET', `/projects/${await projectId()}/${noun}?limit=100`)).body.data
  const createCampaign = async (name: string, { url, pair }: { url: string; pair: Record<string, string> }) =>
    ok(
      apiOf(url, { appId: pair.app_id!, appToken: pair.app_token! })('POST', '/loyalties', {
        name,
        voucher: { type: 'LOYALTY_CARD', loyalty_card: { points: 0 } },
      }),
    )

  const BASIC = `
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
  const WITH_DISTRIBUTION = `${BASIC}
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

  describe('apply', () => {
    test('apply creates what the file describes, writes the secrets to a file of mode 0600, and then finds nothing to change', async () => {
      write(BASIC)
      const first = await apply()
      expect(first).toMatchObject({ code: 0 })
      expect(first.out).toContain(`+ key "till" in "${club}"\n    permissions: loyalties, rewards\n`)
      expect(await list('api-keys')).toMatchObject([
        {
          name: 'till',
          permissions: ['loyalties', 'rewards'],
          ip_whitelist: ['10.0.0.0/8'],
          token_limit: 100,
        },
      ])
      expect(await list('webhooks')).toMatchObject([
        { name: 'crm', target_url: 'https://crm.example.com/hook' },
      ])
      expect(statSync(secretsFile).mode & 0o777).toBe(0o600)
      const before = [await list('api-keys'), await list('webhooks'), readFileSync(secretsFile, 'utf8')]
      for (const flags of [[], ['--plan'], ['--prune', '--yes']]) {
        const again = await apply(flags)
        expect(again).toEqual({ code: 0, out: '', err: 'Nothing to change.\n' })
      }
      expect([await list('api-keys'), await list('webhooks'), readFileSync(secretsFile, 'utf8')]).toEqual(
        before,
      )
    })

    test('apply changes only the fields that differ, and resets those that the file leaves out', async () => {
      write(BASIC)
      await apply()
      const [before] = await list('webhooks')
      const [, audited] = [
        await apply(),
        (await service.manage('GET', `/projects/${await projectId()}/audit-log`)).body.total,
      ]
      write(
        BASIC.replace('[loyalties, rewards]', '[rewards, loyalties, vouchers]').replace(
          / +token_limit.*\n/,
          '',
        ),
      )
      const { out, code } = await apply()
      expect(code).toBe(0)
      expect(out).toContain(
        `~ key "till" in "${club}"\n    permissions: loyalties, rewards → rewards, loyalties, vouchers\n    token_limit: 100 → none\n`,
      )
      expect(await list('api-keys')).toMatchObject([{ token_limit: null, ip_whitelist: ['10.0.0.0/8'] }])
      expect((await list('webhooks'))[0].updated_at).toBe(before.updated_at)
      const { total } = (await service.manage('GET', `/projects/${await projectId()}/audit-log`)).body
      expect(total).toBe(audited + 1)
    })

    test('apply --plan changes nothing and creates no file, and exits with 10 if something differs', async () => {
      write(BASIC)
      const { code, out } = await apply(['--plan'])
      expect([code, await projectId(), existsSync(secretsFile)]).toEqual([10, undefined, false])
      expect(out).toContain('+ webhook "crm"')
      const json = JSON.parse((await apply(['--plan', '--json'])).out)
      expect(json.changes.map((change: { noun: string }) => change.noun)).toEqual([
        'project',
        'key',
        'webhook',
      ])
    })

    test('apply leaves a blocked key blocked and a disabled webhook disabled, unless the file says otherwise', async () => {
      write(BASIC)
      await apply()
      const [[key], [webhook]] = [await list('api-keys'), await list('webhooks')]
      await service.manage('POST', `/projects/${await projectId()}/api-keys/${key.id}/block`)
      await service.manage('POST', `/projects/${await projectId()}/webhooks/${webhook.id}/disable`)
      expect((await apply()).err).toBe('Nothing to change.\n')
      write(
        BASIC.replace('name: till', 'name: till\n        state: active').replace(
          'name: crm',
          'name: crm\n        active: true',
        ),
      )
      expect((await apply()).out).toContain('state: blocked → active')
      expect([await list('api-keys'), await list('webhooks')]).toMatchObject([
        [{ state: 'active' }],
        [{ active: true }],
      ])
      write(BASIC.replace('name: till', 'name: till\n        state: blocked'))
      await apply()
      expect(await list('api-keys')).toMatchObject([{ state: 'blocked' }])
    })

    test('apply gives a webhook without a name the name of the file, and keeps its secret', async () => {
      write(BASIC)
      await apply()
      const [{ id, secret_last4 }] = await list('webhooks')
      await service.manage('PUT', `/projects/${await projectId()}/webhooks/${id}`, { name: null })
      expect((await apply()).out).toContain('name: none → crm')
      expect(await list('webhooks')).toMatchObject([{ id, name: 'crm', secret_last4 }])
    })

    test('apply gives the name to no webhook that another entry of the file describes', async () => {
      const url = `target_url: https://crm.example.com/hook, events: [${EVENT}]`
      write(`projects: [{name: CLUB, webhooks: [{${url}}]}]`)
      await apply()
      const [{ id }] = await list('webhooks')
      write(`projects: [{name: CLUB, webhooks: [{name: a, ${url}}, {${url}}, {name: b, ${url}}]}]`)
      expect((await apply()).code).toBe(0)
      const names = new Map(
        (await list('webhooks')).map((one: { id: string; name: string }) => [one.name, one.id]),
      )
      expect([...names.keys()].sort()).toEqual(['a', 'b', null])
      expect(names.get(null)).toBe(id)
    })

    test('apply reports a missing campaign, makes the rest, exits with 1, and creates the distribution once there is one', async () => {
      write(WITH_DISTRIBUTION)
      for (const flags of [['--plan'], [], []]) {
        const { code, err } = await apply(flags)
        expect([code, err]).toEqual([
          1,
          expect.stringContaining(`has no loyalty campaign "Gold", which distribution "Redeemed" names`),
        ])
      }
      expect(await list('webhooks')).toHaveLength(2)
      await allowAnyAddress()
      await createCampaign('Gold', { url: service.url, pair: secretOf('till') })
      const { code, out } = await apply()
      expect(code).toBe(0)
      expect(out).toContain('headers: authorization')
      expect(await list('distributions')).toMatchObject([
        { name: 'Redeemed', headers: { authorization: '•••' } },
      ])
    })

    /** The key of the file is for 10.0.0.0/8 only. */
    async function allowAnyAddress() {
      const [{ id }] = await list('api-keys')
      await service.manage('PATCH', `/projects/${await projectId()}/api-keys/${id}`, {
        ip_whitelist: [],
        permissions: ['api'],
      })
    }

    test('apply notices a new header value, sends it, and prints neither', async () => {
      write(WITH_DISTRIBUTION)
      await apply()
      await allowAnyAddress()
      await createCampaign('Gold', { url: service.url, pair: secretOf('till') })
      await apply()
      expect((await apply()).err).toBe('Nothing to change.\n')
      const env = { CRM_TOKEN: `${HEADER}-2` }
      expect(await apply(['--plan'], { env })).toMatchObject({
        code: 10,
        out: expect.stringContaining('headers: authorization → authorization (new value)'),
      })
      expect((await apply([], { env })).code).toBe(0)
      expect((await apply(['--plan'], { env })).code).toBe(0)
      expect((await apply(['--plan'])).code).toBe(10)
    })

    test('apply --plan needs only a viewer, who is not shown whether header values differ', async () => {
      write(WITH_DISTRIBUTION)
      await apply()
      await allowAnyAddress()
      await createCampaign('Gold', { url: service.url, pair: secretOf('till') })
      await apply()
      const { id, token } = (await service.manage('POST', '/operators', { name: club, role: 'viewer' })).body
      const env = { JETON_MANAGEMENT_ID: id, JETON_MANAGEMENT_TOKEN: token, CRM_TOKEN: 'other' }
      const { code, err } = await apply(['--plan'], { env })
      expect([code, err]).toEqual([
        0,
        expect.stringContaining('were not compared: that takes an operator of role editor'),
      ])
      write(WITH_DISTRIBUTION.replace('token_limit: 100', 'token_limit: 5'))
      expect((await apply(['--plan'], { env })).code).toBe(10)
      expect((await apply([], { env })).code).toBe(1)
      expect(await list('api-keys')).toMatchObject([{ token_limit: 100 }])
    })

    test('apply shows each step with its number in a terminal, and one line for each step elsewhere', async () => {
      write(BASIC)
      const { out } = await apply([], { isTTY: true })
      expect(out).toContain(
        `2/3  create key "till" in "${club}" ✓\n3/3  create webhook "crm" in "${club}" ✓\n`,
      )
      club = `Club ${++made}`
      write(BASIC)
      const lines = (await apply()).out.trim().split('\n').slice(-3)
      expect(lines).toEqual([
        expect.stringMatching(/^created project "Club \d+" \(proj_\w+\)$/),
        expect.stringMatching(/^created key "till" in "Club \d+" \(key_\w+\)$/),
        expect.stringMatching(/^created webhook "crm" in "Club \d+" \(wh_\w+\)$/),
      ])
    })

    test('apply, after Ctrl-C, finishes the change in progress, says what is made, and continues in the next run', async () => {
      write(BASIC)
      const command = startJeton(['apply', '-f', file], around())
      await command.printed(/created project/)
      const { code, err } = await command.stop()
      expect([code, err]).toEqual([
        1,
        expect.stringMatching(/Stopped: [12] of 3 changes are made\. Apply again/),
      ])
      expect(await apply()).toMatchObject({ code: 0 })
      expect((await apply(['--plan'])).code).toBe(0)
      expect(secrets().filter(({ outcome }) => outcome === 'created')).toHaveLength(2)
    })

    test('apply stops at the first refusal, says what is made, and the same command makes the rest', async () => {
      write(BASIC.replace('https://crm.example.com/hook', 'https://127.0.0.1/hook'))
      const { code, err } = await apply()
      expect([code, err]).toEqual([
        1,
        expect.stringMatching(/Failed: create webhook "crm".*\n2 of 3 changes are made/s),
      ])
      write(BASIC)
      expect(await apply()).toMatchObject({ code: 0, out: expect.stringMatching(/^\+ webhook/) })
    })

    test('apply exits like other commands if the server is away or the credential is wrong', async () => {
      write(BASIC)
      expect((await apply(['--url', 'http://127.0.0.1:1'])).code).toBe(69)
      expect((await apply([], { env: { JETON_MANAGEMENT_TOKEN: 'x'.repeat(40) } })).code).toBe(4)
      expect((await run(['apply'])).code).toBe(2)
      expect((await run(['apply', '-f', join(folder, 'none.yaml')])).code).toBe(2)
      expect(
        (await run(['apply', '-f', '-', '--secrets', secretsFile], { input: readFileSync(file, 'utf8') }))
          .code,
      ).toBe(0)
    })
  })

  describe('--prune', () => {
    const OLD = `
projects:
  - name: CLUB
    keys:
      - {name: till, permissions: [rewards]}
      - {name: old, permissions: [rewards]}
    webhooks:
      - {name: gone, target_url: https://gone.example.com, events: [${EVENT}]}
`
    const NEW = 'projects: [{name: CLUB, keys: [{name: till, permissions: [rewards]}]}]'

    test('apply --prune says what stops working and asks, and deletes only in the projects of the file', async () => {
      write(OLD)
      await apply()
      const other = await service.project(`${club} other`)
      const untouched = await service.key(other.id, { name: 'old' })
      await service.issue({ appId: secretOf('old').app_id!, appToken: secretOf('old').app_token! }, 'rewards')
      write(NEW)
      const kept = await apply()
      expect(kept).toMatchObject({ code: 0, out: '' })
      expect(kept.err).toContain(
        `left alone: key "old" in "${club}", webhook "gone" in "${club}". To delete them: --prune`,
      )

      const declined = await apply(['--prune'], { answers: ['n'] })
      expect([declined.code, declined.err]).toEqual([1, expect.stringContaining('Nothing was changed.')])
      expect(declined.err).toContain('Delete 1 key and 1 webhook?')
      expect(declined.out).toContain('1 active token stops working immediately')
      expect(declined.out).toContain('https://gone.example.com receives no more events')
      expect(await list('api-keys')).toHaveLength(2)

      const agreed = await apply(['--prune'], { answers: ['y'] })
      expect(agreed.code).toBe(0)
      expect((await list('api-keys')).map((key: { name: string }) => key.name)).toEqual(['till'])
      expect(await list('webhooks')).toEqual([])
      expect((await service.manage('GET', untouched.path)).body.state).toBe('active')
    })

    test('apply --prune requires --yes without a terminal, before anything is changed, and never deletes a project', async () => {
      write(OLD)
      await apply()
      write(NEW)
      const unattended = await apply(['--prune'])
      expect([unattended.code, unattended.err]).toEqual([2, expect.stringContaining('Pass --yes')])
      expect(await list('api-keys')).toHaveLength(2)
      expect((await apply(['--prune', '--plan'])).code).toBe(10)
      expect(await list('api-keys')).toHaveLength(2)
      expect((await apply(['--prune', '--yes'])).code).toBe(0)
      expect(await list('api-keys')).toHaveLength(1)
      const id = await projectId()
      write('projects: []')
      expect((await apply(['--prune', '--yes'])).err).toBe('Nothing to change.\n')
      expect(await projectId()).toBe(id)
    })
  })

  describe('the file of secrets', () => {
    test('a file of secrets is refused before the first request if others can read it, if it is a link, or if it is something else', async () => {
      write(BASIC)
      const refusals: [string, () => void][] = [
        ['its mode must be 0600', () => writeFileSync(secretsFile, '', { mode: 0o640 })],
        ['is a link', () => symlinkSync(join(folder, 'elsewhere'), secretsFile)],
        [
          'is a link',
          () => {
            writeFileSync(join(folder, 'first'), '', { mode: 0o600 })
            linkSync(join(folder, 'first'), secretsFile)
          },
        ],
        ['is not a file of secrets', () => writeFileSync(secretsFile, 'keep: this\n', { mode: 0o600 })],
      ]
      for (const [says, prepare] of refusals) {
        rmSync(secretsFile, { force: true })
        prepare()
        const { code, err } = await apply()
        expect([code, err]).toEqual([78, expect.stringContaining(says)])
      }
      expect(await projectId()).toBeUndefined()
    })

    test('apply changes nothing if the file of secrets cannot be created', async () => {
      write(BASIC)
      const { code, err } = await apply(['--secrets', join(folder, 'none', 'secrets')])
      expect([code, err, await projectId()]).toEqual([
        78,
        expect.stringContaining('cannot be written (ENOENT)'),
        undefined,
      ])
    })

    test('the file of secrets has the working secret of each new key and webhook, and keeps earlier lines', async () => {
      write(BASIC.replace(/ +ip_whitelist.*\n/, ''))
      await apply()
      const pair = { appId: secretOf('till').app_id!, appToken: secretOf('till').app_token! }
      expect((await service.issue(pair, 'rewards')).status).toBe(200)
      expect(secretOf('crm').secret).toMatch(/^whsec_/)
      const before = readFileSync(secretsFile, 'utf8')
      chmodSync(secretsFile, 0o600)
      write(`${BASIC}      - {name: more, target_url: https://more.example.com, events: [${EVENT}]}\n`)
      await apply()
      expect(readFileSync(secretsFile, 'utf8').startsWith(before)).toBe(true)
    })

    test('apply says if the file of secrets lacks the secret of a key, and names the command that replaces it', async () => {
      write(BASIC)
      await apply()
      rmSync(secretsFile)
      const { code, err } = await apply()
      expect(code).toBe(0)
      expect(err).toContain(`has no secret of: key "till" in "${club}", webhook "crm" in "${club}"`)
      expect(err).toMatch(/jeton key regenerate key_\w+ --project/)
    })

    test('a secret whose request broke off counts as lost, also if the request replaced a lost one', async () => {
      write('projects: [{name: CLUB, keys: [{name: till, permissions: [rewards]}]}]')
      await service.project(club)
      // The answer to the first two requests for a secret never arrives.
      const url = await startChangingProxy(service.url, { after: async (number) => number > 2 })
      const till = (...flags: string[]) => run(['apply', '-f', file, ...flags], {}, url)
      expect((await till()).code).toBe(69)
      expect(await till()).toMatchObject({
        code: 1,
        err: expect.stringContaining('Lost secret of: key "till"'),
      })
      expect((await till('--regenerate')).code).toBe(69)
      expect(await till()).toMatchObject({
        code: 1,
        err: expect.stringContaining('Lost secret of: key "till"'),
      })
      expect((await till('--regenerate')).code).toBe(0)
      const pair = { appId: secretOf('till').app_id!, appToken: secretOf('till').app_token! }
      expect((await service.issue(pair, 'rewards')).status).toBe(200)
    })

    test('a secret whose request has an unknown result counts as lost until --regenerate replaces the secret', async () => {
      write(BASIC.replace(/ +ip_whitelist.*\n/, ''))
      await apply()
      // As a kill between the answer and the write leaves it, the last line cut off.
      const lines = readFileSync(secretsFile, 'utf8').split('\n')
      const cut = lines.map((line) =>
        line.includes('"created"') && line.includes('"till"') ? line.slice(0, 60) : line,
      )
      writeFileSync(secretsFile, cut.join('\n').trimEnd(), { mode: 0o600 })
      for (const flags of [[], ['--plan']]) {
        const { code, err } = await apply(flags)
        expect([code, err]).toEqual([1, expect.stringMatching(/Lost secret of: key "till".*--regenerate/s)])
      }
      expect(await apply(['--regenerate'])).toMatchObject({
        code: 0,
        out: expect.stringContaining('new secret'),
      })
      const pair = { appId: secretOf('till').app_id!, appToken: secretOf('till').app_token! }
      expect((await service.issue(pair, 'rewards')).status).toBe(200)
      expect((await apply(['--regenerate'])).err).toBe('Nothing to change.\n')
    })
  })

  describe('several operators', () => {
    test('two keys of one name are an error of apply and export that names both', async () => {
      write(BASIC)
      await apply()
      const id = await projectId()
      await service.key(id, { name: 'till' })
      for (const argv of [
        ['apply', '-f', file],
        ['export', '--project', club],
      ]) {
        const { code, err } = await run(argv)
        expect([code, err]).toEqual([1, expect.stringMatching(/^2 keys in "Club \d+" are named "till"/)])
      }
    })

    test('of several applies at once, the final state is that of one of them, or it reports a conflict', async () => {
      const [a, b] = [1, 2].map((limit) => {
        const path = join(folder, `${limit}.yaml`)
        const keys = Array.from(
          { length: 4 },
          (_, i) => `{name: k${i}, permissions: [rewards], token_limit: ${limit}}`,
        )
        writeFileSync(path, `projects: [{name: ${club}, keys: [${keys.join(', ')}]}]`)
        return path
      })
      for (let round = 0; round < 5; round++) {
        const results = await Promise.all(
          [a!, b!].map(async (path) => ({ path, ...(await run(['apply', '-f', path])) })),
        )
        const keys = await list('api-keys')
        expect(new Set(keys.map(({ name }: { name: string }) => name)).size).toBe(keys.length)
        const fits = []
        for (const { path } of results)
          if ((await run(['apply', '-f', path, '--plan'])).code === 0) fits.push(path)
        const refused = results.filter(({ code }) => code !== 0)
        for (const { err } of refused) expect(err).toMatch(/Conflict|already exists|already has|meanwhile/)
        expect(fits.length > 0 || refused.length > 0).toBe(true)
        // An apply that reported success last described the final state.
        if (refused.length === 0) expect(fits).toHaveLength(1)
      }
      expect((await run(['apply', '-f', a!])).code).toBe(0)
      expect((await run(['apply', '-f', a!, '--plan'])).code).toBe(0)
    })

    test('a key that another apply creates meanwhile is not created twice, and its secret is not lost', async () => {
      write('projects: [{name: CLUB, keys: [{name: till, permissions: [rewards]}]}]')
      await service.project(club)
      const url = await startChangingProxy(service.url, { before: async () => (await apply()).code === 0 })
      const { code, err } = await run(['apply', '-f', file], {}, url)
      expect([code, err]).toEqual([
        1,
        expect.stringMatching(/already has an API key named "till".*changed it meanwhile/s),
      ])
      expect(await list('api-keys')).toHaveLength(1)
      expect(await apply()).toEqual({ code: 0, out: '', err: 'Nothing to change.\n' })
      const pair = { appId: secretOf('till').app_id!, appToken: secretOf('till').app_token! }
      expect((await service.issue(pair, 'rewards')).status).toBe(200)
    })

    test('a change that another operator makes during an apply is reported as a conflict', async () => {
      write(BASIC)
      await apply()
      write(BASIC.replace('token_limit: 100', 'token_limit: 5').replace('https://crm', 'https://new'))
      const [{ id }] = await list('api-keys')
      const path = `/projects/${await projectId()}/api-keys/${id}`
      // The change of the key is made, that of the webhook is not yet.
      const url = await startChangingProxy(service.url, {
        before: async (number) =>
          number !== 2 || (await service.manage('PATCH', path, { token_limit: 7 })).status === 200,
      })
      const { code, err } = await run(['apply', '-f', file], {}, url)
      expect([code, err]).toEqual([
        1,
        expect.stringContaining(`Conflict: another operator changed this meanwhile: key "till"`),
      ])
      expect((await apply()).code).toBe(0)
    })
  })

  test('export, then apply on an empty store, gives the same configuration once the campaigns exist', async () => {
    const first = await startOn(await engine.settings())
    const second = await startOn(await engine.settings())
    try {
      write(
        `${WITH_DISTRIBUTION}
  - name: CLUB "quoted" # ü
    keys:
      - {name: "yes", permissions: [api], state: blocked}
      - {name: "\${X}", permissions: [vouchers, campaigns], ip_whitelist: [10.0.0.4, "2001:db8::/32"]}
    webhooks:
      - {name: "007", target_url: https://a.example.com/?q=1, events: [${EVENT}], active: false, description: "two\\nlines: #1"}
`
          .replace(/ +ip_whitelist: \[10.0.0.0\/8\]\n/, '')
          .replace('[loyalties, rewards]', '[loyalties, rewards, api]')
          .replace('name: CLUB "quoted" # ü', `name: '${club} "quoted" ü'`),
      )
      const on = (url: string, ...argv: string[]) => run(argv, { env: { GOLD: HEADER } }, url)
      const secretAt = (url: string) =>
        secrets().find((line) => line.server === url && line.name === 'till' && line.outcome === 'created')!
      const exported = async (url: string) => (await on(url, 'export')).out

      expect((await on(first.url, 'apply', '-f', file)).code).toBe(1)
      await createCampaign('Gold', { url: first.url, pair: secretAt(first.url) })
      expect((await on(first.url, 'apply', '-f', file)).code).toBe(0)
      const before = await exported(first.url)
      expect(before).toContain('authorization: ${CLUB_')
      expect(before).not.toMatch(/•|whsec|jta_/)

      const copy = join(folder, 'copy.yaml')
      writeFileSync(copy, before)
      const [, variable] = /\$\{(CLUB_\w+)\}/.exec(before)!
      const env = { [variable!]: `Bearer ${HEADER}` }
      const applyCopy = () => run(['apply', '-f', copy, '--secrets', secretsFile], { env }, second.url)
      expect((await applyCopy()).code).toBe(1)
      await createCampaign('Gold', { url: second.url, pair: secretAt(second.url) })
      expect((await applyCopy()).code).toBe(0)
      expect(await exported(second.url)).toBe(before)
      // The exported file describes the first server as well, header values included.
      expect(
        await run(['apply', '-f', copy, '--secrets', secretsFile, '--plan', '--prune'], { env }, first.url),
      ).toMatchObject({ code: 0 })
    } finally {
      await Promise.all([first.stop(), second.stop()])
    }
  })

  test('export refuses an unknown project, and lists only the chosen ones', async () => {
    write(BASIC)
    await apply()
    expect((await run(['export', '--project', 'nothing'])).code).toBe(3)
    expect((await run(['export', '--project', 'proj_0123456789abcdef'])).code).toBe(3)
    const { out } = await run(['export', '--project', club])
    expect(out.match(/ {2}- name: Club/g)).toHaveLength(1)
  })
})
