import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { BASIC, Club, createCampaign, EVENT, HEADER, WITH_DISTRIBUTION } from '../club-fixture.ts'
import { startJeton } from '../command-line.ts'
import { eachEngine } from '../engines.ts'

eachEngine((engine) => {
  const club = new Club(engine)

  describe('apply', () => {
    test('apply creates what the file describes, writes the secrets to a file of mode 0600, and then finds nothing to change', async () => {
      club.write(BASIC)
      const first = await club.apply()
      expect(first).toMatchObject({ code: 0 })
      expect(first.out).toContain(`+ key "till" in "${club.name}"\n    permissions: loyalties, rewards\n`)
      expect(await club.list('api-keys')).toMatchObject([
        {
          name: 'till',
          permissions: ['loyalties', 'rewards'],
          ip_whitelist: ['10.0.0.0/8'],
          token_limit: 100,
        },
      ])
      expect(await club.list('webhooks')).toMatchObject([
        { name: 'crm', target_url: 'https://crm.example.com/hook' },
      ])
      expect(statSync(club.secretsFile).mode & 0o777).toBe(0o600)
      const before = [
        await club.list('api-keys'),
        await club.list('webhooks'),
        readFileSync(club.secretsFile, 'utf8'),
      ]
      for (const flags of [[], ['--plan'], ['--prune', '--yes']]) {
        const again = await club.apply(flags)
        expect(again).toEqual({ code: 0, out: '', err: 'Nothing to change.\n' })
      }
      expect([
        await club.list('api-keys'),
        await club.list('webhooks'),
        readFileSync(club.secretsFile, 'utf8'),
      ]).toEqual(before)
    })

    test('apply changes only the fields that differ, and resets those that the file leaves out', async () => {
      club.write(BASIC)
      await club.apply()
      const [before] = await club.list('webhooks')
      const [, audited] = [
        await club.apply(),
        (await club.service.manage('GET', `/projects/${await club.projectId()}/audit-log`)).body.total,
      ]
      club.write(
        BASIC.replace('[loyalties, rewards]', '[rewards, loyalties, vouchers]').replace(
          / +token_limit.*\n/,
          '',
        ),
      )
      const { out, code } = await club.apply()
      expect(code).toBe(0)
      expect(out).toContain(
        `~ key "till" in "${club.name}"\n    permissions: loyalties, rewards → rewards, loyalties, vouchers\n    token_limit: 100 → none\n`,
      )
      expect(await club.list('api-keys')).toMatchObject([{ token_limit: null, ip_whitelist: ['10.0.0.0/8'] }])
      expect((await club.list('webhooks'))[0].updated_at).toBe(before.updated_at)
      const { total } = (await club.service.manage('GET', `/projects/${await club.projectId()}/audit-log`))
        .body
      expect(total).toBe(audited + 1)
    })

    test('apply --plan changes nothing and creates no club.file, and exits with 10 if something differs', async () => {
      club.write(BASIC)
      const { code, out } = await club.apply(['--plan'])
      expect([code, await club.projectId(), existsSync(club.secretsFile)]).toEqual([10, undefined, false])
      expect(out).toContain('+ webhook "crm"')
      const json = JSON.parse((await club.apply(['--plan', '--json'])).out)
      expect(json.changes.map((change: { noun: string }) => change.noun)).toEqual([
        'project',
        'key',
        'webhook',
      ])
    })

    test('apply leaves a blocked key blocked and a disabled webhook disabled, unless the file says otherwise', async () => {
      club.write(BASIC)
      await club.apply()
      const [[key], [webhook]] = [await club.list('api-keys'), await club.list('webhooks')]
      await club.service.manage('POST', `/projects/${await club.projectId()}/api-keys/${key.id}/block`)
      await club.service.manage('POST', `/projects/${await club.projectId()}/webhooks/${webhook.id}/disable`)
      expect((await club.apply()).err).toBe('Nothing to change.\n')
      club.write(
        BASIC.replace('name: till', 'name: till\n        state: active').replace(
          'name: crm',
          'name: crm\n        active: true',
        ),
      )
      expect((await club.apply()).out).toContain('state: blocked → active')
      expect([await club.list('api-keys'), await club.list('webhooks')]).toMatchObject([
        [{ state: 'active' }],
        [{ active: true }],
      ])
      club.write(BASIC.replace('name: till', 'name: till\n        state: blocked'))
      await club.apply()
      expect(await club.list('api-keys')).toMatchObject([{ state: 'blocked' }])
    })

    test('apply gives a webhook without a name the name of the club.file, and keeps its secret', async () => {
      club.write(BASIC)
      await club.apply()
      const [{ id, secret_last4 }] = await club.list('webhooks')
      await club.service.manage('PUT', `/projects/${await club.projectId()}/webhooks/${id}`, { name: null })
      expect((await club.apply()).out).toContain('name: none → crm')
      expect(await club.list('webhooks')).toMatchObject([{ id, name: 'crm', secret_last4 }])
    })

    test('apply gives the name to no webhook that another entry of the file describes', async () => {
      const url = `target_url: https://crm.example.com/hook, events: [${EVENT}]`
      club.write(`projects: [{name: CLUB, webhooks: [{${url}}]}]`)
      await club.apply()
      const [{ id }] = await club.list('webhooks')
      club.write(`projects: [{name: CLUB, webhooks: [{name: a, ${url}}, {${url}}, {name: b, ${url}}]}]`)
      expect((await club.apply()).code).toBe(0)
      const names = new Map(
        (await club.list('webhooks')).map((one: { id: string; name: string }) => [one.name, one.id]),
      )
      expect([...names.keys()].sort()).toEqual(['a', 'b', null])
      expect(names.get(null)).toBe(id)
    })

    test('apply reports a missing campaign, makes the rest, exits with 1, and creates the distribution once there is one', async () => {
      club.write(WITH_DISTRIBUTION)
      for (const flags of [['--plan'], [], []]) {
        const { code, err } = await club.apply(flags)
        expect([code, err]).toEqual([
          1,
          expect.stringContaining(`has no loyalty campaign "Gold", which distribution "Redeemed" names`),
        ])
      }
      expect(await club.list('webhooks')).toHaveLength(2)
      await allowAnyAddress()
      await createCampaign('Gold', { url: club.service.url, pair: club.secretOf('till') })
      const { code, out } = await club.apply()
      expect(code).toBe(0)
      expect(out).toContain('headers: authorization')
      expect(await club.list('distributions')).toMatchObject([
        { name: 'Redeemed', headers: { authorization: '•••' } },
      ])
    })

    /** The key of the file is for 10.0.0.0/8 only. */
    async function allowAnyAddress() {
      const [{ id }] = await club.list('api-keys')
      await club.service.manage('PATCH', `/projects/${await club.projectId()}/api-keys/${id}`, {
        ip_whitelist: [],
        permissions: ['api'],
      })
    }

    test('apply notices a new header value, sends it, and prints neither', async () => {
      club.write(WITH_DISTRIBUTION)
      await club.apply()
      await allowAnyAddress()
      await createCampaign('Gold', { url: club.service.url, pair: club.secretOf('till') })
      await club.apply()
      expect((await club.apply()).err).toBe('Nothing to change.\n')
      const env = { CRM_TOKEN: `${HEADER}-2` }
      expect(await club.apply(['--plan'], { env })).toMatchObject({
        code: 10,
        out: expect.stringContaining('headers: authorization → authorization (new value)'),
      })
      expect((await club.apply([], { env })).code).toBe(0)
      expect((await club.apply(['--plan'], { env })).code).toBe(0)
      expect((await club.apply(['--plan'])).code).toBe(10)
    })

    test('apply --plan needs only a viewer, who is not shown whether header values differ', async () => {
      club.write(WITH_DISTRIBUTION)
      await club.apply()
      await allowAnyAddress()
      await createCampaign('Gold', { url: club.service.url, pair: club.secretOf('till') })
      await club.apply()
      const { id, token } = (
        await club.service.manage('POST', '/operators', { name: club.name, role: 'viewer' })
      ).body
      const env = { JETON_MANAGEMENT_ID: id, JETON_MANAGEMENT_TOKEN: token, CRM_TOKEN: 'other' }
      const { code, err } = await club.apply(['--plan'], { env })
      expect([code, err]).toEqual([
        0,
        expect.stringContaining('were not compared: that takes an operator of role editor'),
      ])
      club.write(WITH_DISTRIBUTION.replace('token_limit: 100', 'token_limit: 5'))
      expect((await club.apply(['--plan'], { env })).code).toBe(10)
      expect((await club.apply([], { env })).code).toBe(1)
      expect(await club.list('api-keys')).toMatchObject([{ token_limit: 100 }])
    })

    test('apply shows each step with its number in a terminal, and one line for each step elsewhere', async () => {
      club.write(BASIC)
      const { out } = await club.apply([], { isTTY: true })
      expect(out).toContain(
        `2/3  create key "till" in "${club.name}" ✓\n3/3  create webhook "crm" in "${club.name}" ✓\n`,
      )
      club.rename()
      club.write(BASIC)
      const lines = (await club.apply()).out.trim().split('\n').slice(-3)
      expect(lines).toEqual([
        expect.stringMatching(/^created project "Club \d+" \(proj_\w+\)$/),
        expect.stringMatching(/^created key "till" in "Club \d+" \(key_\w+\)$/),
        expect.stringMatching(/^created webhook "crm" in "Club \d+" \(wh_\w+\)$/),
      ])
    })

    test('apply, after Ctrl-C, finishes the change in progress, says what is made, and continues in the next run', async () => {
      club.write(BASIC)
      const command = startJeton(['apply', '-f', club.file], club.around())
      await command.printed(/created project/)
      const { code, err } = await command.stop()
      expect([code, err]).toEqual([
        1,
        expect.stringMatching(/Stopped: [12] of 3 changes are made\. Apply again/),
      ])
      expect(await club.apply()).toMatchObject({ code: 0 })
      expect((await club.apply(['--plan'])).code).toBe(0)
      expect(club.secrets().filter(({ outcome }) => outcome === 'created')).toHaveLength(2)
    })

    test('apply stops at the first refusal, says what is made, and the same command makes the rest', async () => {
      club.write(BASIC.replace('https://crm.example.com/hook', 'https://127.0.0.1/hook'))
      const { code, err } = await club.apply()
      expect([code, err]).toEqual([
        1,
        expect.stringMatching(/Failed: create webhook "crm".*\n2 of 3 changes are made/s),
      ])
      club.write(BASIC)
      expect(await club.apply()).toMatchObject({ code: 0, out: expect.stringMatching(/^\+ webhook/) })
    })

    test('apply exits like other commands if the server is away or the credential is wrong', async () => {
      club.write(BASIC)
      expect((await club.apply(['--url', 'http://127.0.0.1:1'])).code).toBe(69)
      expect((await club.apply([], { env: { JETON_MANAGEMENT_TOKEN: 'x'.repeat(40) } })).code).toBe(4)
      expect((await club.run(['apply'])).code).toBe(2)
      expect((await club.run(['apply', '-f', join(club.folder, 'none.yaml')])).code).toBe(2)
      expect(
        (
          await club.run(['apply', '-f', '-', '--secrets', club.secretsFile], {
            input: readFileSync(club.file, 'utf8'),
          })
        ).code,
      ).toBe(0)
    })
  })
})
