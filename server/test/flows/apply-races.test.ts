import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { startChangingProxy } from '../changing-proxy.ts'
import { BASIC, Club, createCampaign, EVENT, HEADER, startOn, WITH_DISTRIBUTION } from '../club-fixture.ts'
import { eachEngine } from '../engines.ts'

eachEngine((engine) => {
  const club = new Club(engine)

  describe('several operators', () => {
    test('two keys of one name are an error of apply and export that names both', async () => {
      club.write(BASIC)
      await club.apply()
      const id = await club.projectId()
      await club.service.key(id, { name: 'till' })
      for (const argv of [
        ['apply', '-f', club.file],
        ['export', '--project', club.name],
      ]) {
        const { code, err } = await club.run(argv)
        expect([code, err]).toEqual([1, expect.stringMatching(/^2 keys in "Club \d+" are named "till"/)])
      }
    })

    test('several applies at once end in the state of one of them, or one reports a conflict', async () => {
      const [a, b] = [1, 2].map((limit) => {
        const path = join(club.folder, `${limit}.yaml`)
        const keys = Array.from(
          { length: 4 },
          (_, i) => `{name: k${i}, permissions: [rewards], token_limit: ${limit}}`,
        )
        writeFileSync(path, `projects: [{name: ${club.name}, keys: [${keys.join(', ')}]}]`)
        return path
      })
      for (let round = 0; round < 5; round++) {
        const results = await Promise.all(
          [a!, b!].map(async (path) => ({ path, ...(await club.run(['apply', '-f', path])) })),
        )
        const keys = await club.list('api-keys')
        expect(new Set(keys.map(({ name }: { name: string }) => name)).size).toBe(keys.length)
        const fits = []
        for (const { path } of results)
          if ((await club.run(['apply', '-f', path, '--plan'])).code === 0) fits.push(path)
        const refused = results.filter(({ code }) => code !== 0)
        for (const { err } of refused) expect(err).toMatch(/Conflict|already exists|already has|meanwhile/)
        expect(fits.length > 0 || refused.length > 0).toBe(true)
        // An apply that reported success last described the final state.
        if (refused.length === 0) expect(fits).toHaveLength(1)
      }
      expect((await club.run(['apply', '-f', a!])).code).toBe(0)
      expect((await club.run(['apply', '-f', a!, '--plan'])).code).toBe(0)
    })

    test('a key that another apply creates meanwhile is not created twice, and its secret is not lost', async () => {
      club.write('projects: [{name: CLUB, keys: [{name: till, permissions: [rewards]}]}]')
      await club.service.project(club.name)
      const url = await startChangingProxy(club.service.url, {
        before: async () => (await club.apply()).code === 0,
      })
      const { code, err } = await club.run(['apply', '-f', club.file], {}, url)
      expect([code, err]).toEqual([
        1,
        expect.stringMatching(/already has an API key named "till".*changed it meanwhile/s),
      ])
      expect(await club.list('api-keys')).toHaveLength(1)
      expect(await club.apply()).toEqual({ code: 0, out: '', err: 'Nothing to change.\n' })
      const pair = { appId: club.secretOf('till').app_id!, appToken: club.secretOf('till').app_token! }
      expect((await club.service.issue(pair, 'rewards')).status).toBe(200)
    })

    test('a change that another operator makes during an apply is reported as a conflict', async () => {
      club.write(BASIC)
      await club.apply()
      club.write(BASIC.replace('token_limit: 100', 'token_limit: 5').replace('https://crm', 'https://new'))
      const [{ id }] = await club.list('api-keys')
      const path = `/projects/${await club.projectId()}/api-keys/${id}`
      // The change of the key is made, that of the webhook is not yet.
      const url = await startChangingProxy(club.service.url, {
        before: async (number) =>
          number !== 2 || (await club.service.manage('PATCH', path, { token_limit: 7 })).status === 200,
      })
      const { code, err } = await club.run(['apply', '-f', club.file], {}, url)
      expect([code, err]).toEqual([
        1,
        expect.stringContaining(`Conflict: another operator changed this meanwhile: key "till"`),
      ])
      expect((await club.apply()).code).toBe(0)
    })
  })

  test('export, then apply on an empty store, gives the same configuration once the campaigns exist', async () => {
    const first = await startOn(await engine.settings())
    const second = await startOn(await engine.settings())
    try {
      club.write(
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
          .replace('name: CLUB "quoted" # ü', `name: '${club.name} "quoted" ü'`),
      )
      const on = (url: string, ...argv: string[]) => club.run(argv, { env: { GOLD: HEADER } }, url)
      const secretAt = (url: string) =>
        club
          .secrets()
          .find((line) => line.server === url && line.name === 'till' && line.outcome === 'created')!
      const exported = async (url: string) => (await on(url, 'export')).out

      expect((await on(first.url, 'apply', '-f', club.file)).code).toBe(1)
      await createCampaign('Gold', { url: first.url, pair: secretAt(first.url) })
      expect((await on(first.url, 'apply', '-f', club.file)).code).toBe(0)
      const before = await exported(first.url)
      expect(before).toContain('authorization: ${CLUB_')
      expect(before).not.toMatch(/•|whsec|jta_/)

      const copy = join(club.folder, 'copy.yaml')
      writeFileSync(copy, before)
      const [, variable] = /\$\{(CLUB_\w+)\}/.exec(before)!
      const env = { [variable!]: `Bearer ${HEADER}` }
      const applyCopy = () =>
        club.run(['apply', '-f', copy, '--secrets', club.secretsFile], { env }, second.url)
      expect((await applyCopy()).code).toBe(1)
      await createCampaign('Gold', { url: second.url, pair: secretAt(second.url) })
      expect((await applyCopy()).code).toBe(0)
      expect(await exported(second.url)).toBe(before)
      // The exported file describes the first server as well, header values included.
      expect(
        await club.run(
          ['apply', '-f', copy, '--secrets', club.secretsFile, '--plan', '--prune'],
          { env },
          first.url,
        ),
      ).toMatchObject({ code: 0 })
    } finally {
      await Promise.all([first.stop(), second.stop()])
    }
  })

  test('export refuses an unknown project, and lists only the chosen ones', async () => {
    club.write(BASIC)
    await club.apply()
    expect((await club.run(['export', '--project', 'nothing'])).code).toBe(3)
    expect((await club.run(['export', '--project', 'proj_0123456789abcdef'])).code).toBe(3)
    const { out } = await club.run(['export', '--project', club.name])
    expect(out.match(/ {2}- name: Club/g)).toHaveLength(1)
  })
})
