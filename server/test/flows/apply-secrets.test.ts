import { chmodSync, linkSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { startChangingProxy } from '../changing-proxy.ts'
import { BASIC, Club, EVENT } from '../club-fixture.ts'
import { eachEngine } from '../engines.ts'

eachEngine((engine) => {
  const club = new Club(engine)

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
      club.write(OLD)
      await club.apply()
      const other = await club.service.project(`${club.name} other`)
      const untouched = await club.service.key(other.id, { name: 'old' })
      await club.service.issue(
        { appId: club.secretOf('old').app_id!, appToken: club.secretOf('old').app_token! },
        'rewards',
      )
      club.write(NEW)
      const kept = await club.apply()
      expect(kept).toMatchObject({ code: 0, out: '' })
      expect(kept.err).toContain(
        `left alone: key "old" in "${club.name}", webhook "gone" in "${club.name}". To delete them: --prune`,
      )

      const declined = await club.apply(['--prune'], { answers: ['n'] })
      expect([declined.code, declined.err]).toEqual([1, expect.stringContaining('Nothing was changed.')])
      expect(declined.err).toContain('Delete 1 key and 1 webhook?')
      expect(declined.out).toContain('1 active token stops working immediately')
      expect(declined.out).toContain('https://gone.example.com receives no more events')
      expect(await club.list('api-keys')).toHaveLength(2)

      const agreed = await club.apply(['--prune'], { answers: ['y'] })
      expect(agreed.code).toBe(0)
      expect((await club.list('api-keys')).map((key: { name: string }) => key.name)).toEqual(['till'])
      expect(await club.list('webhooks')).toEqual([])
      expect((await club.service.manage('GET', untouched.path)).body.state).toBe('active')
    })

    test('apply --prune requires --yes without a terminal, before anything is changed, and never deletes a project', async () => {
      club.write(OLD)
      await club.apply()
      club.write(NEW)
      const unattended = await club.apply(['--prune'])
      expect([unattended.code, unattended.err]).toEqual([2, expect.stringContaining('Pass --yes')])
      expect(await club.list('api-keys')).toHaveLength(2)
      expect((await club.apply(['--prune', '--plan'])).code).toBe(10)
      expect(await club.list('api-keys')).toHaveLength(2)
      expect((await club.apply(['--prune', '--yes'])).code).toBe(0)
      expect(await club.list('api-keys')).toHaveLength(1)
      const id = await club.projectId()
      club.write('projects: []')
      expect((await club.apply(['--prune', '--yes'])).err).toBe('Nothing to change.\n')
      expect(await club.projectId()).toBe(id)
    })
  })

  describe('the file of secrets', () => {
    test('a file of secrets is refused before the first request if others can read it, if it is a link, or if it is something else', async () => {
      club.write(BASIC)
      const refusals: [string, () => void][] = [
        ['its mode must be 0600', () => writeFileSync(club.secretsFile, '', { mode: 0o640 })],
        ['is a link', () => symlinkSync(join(club.folder, 'elsewhere'), club.secretsFile)],
        [
          'is a link',
          () => {
            writeFileSync(join(club.folder, 'first'), '', { mode: 0o600 })
            linkSync(join(club.folder, 'first'), club.secretsFile)
          },
        ],
        ['is not a file of secrets', () => writeFileSync(club.secretsFile, 'keep: this\n', { mode: 0o600 })],
      ]
      for (const [says, prepare] of refusals) {
        rmSync(club.secretsFile, { force: true })
        prepare()
        const { code, err } = await club.apply()
        expect([code, err]).toEqual([78, expect.stringContaining(says)])
      }
      expect(await club.projectId()).toBeUndefined()
    })

    test('apply changes nothing if the file of secrets cannot be created', async () => {
      club.write(BASIC)
      const { code, err } = await club.apply(['--secrets', join(club.folder, 'none', 'secrets')])
      expect([code, err, await club.projectId()]).toEqual([
        78,
        expect.stringContaining('cannot be written (ENOENT)'),
        undefined,
      ])
    })

    test('the file of secrets has the working secret of each new key and webhook, and keeps earlier lines', async () => {
      club.write(BASIC.replace(/ +ip_whitelist.*\n/, ''))
      await club.apply()
      const pair = { appId: club.secretOf('till').app_id!, appToken: club.secretOf('till').app_token! }
      expect((await club.service.issue(pair, 'rewards')).status).toBe(200)
      expect(club.secretOf('crm').secret).toMatch(/^whsec_/)
      const before = readFileSync(club.secretsFile, 'utf8')
      chmodSync(club.secretsFile, 0o600)
      club.write(`${BASIC}      - {name: more, target_url: https://more.example.com, events: [${EVENT}]}\n`)
      await club.apply()
      expect(readFileSync(club.secretsFile, 'utf8').startsWith(before)).toBe(true)
    })

    test('apply says if the file of secrets lacks the secret of a key, and names the command that replaces it', async () => {
      club.write(BASIC)
      await club.apply()
      rmSync(club.secretsFile)
      const { code, err } = await club.apply()
      expect(code).toBe(0)
      expect(err).toContain(`has no secret of: key "till" in "${club.name}", webhook "crm" in "${club.name}"`)
      expect(err).toMatch(/jeton key regenerate key_\w+ --project/)
    })

    test('a secret whose request broke off counts as lost, also if the request replaced a lost one', async () => {
      club.write('projects: [{name: CLUB, keys: [{name: till, permissions: [rewards]}]}]')
      await club.service.project(club.name)
      // The answer to the first two requests for a secret never arrives.
      const url = await startChangingProxy(club.service.url, { after: async (number) => number > 2 })
      const till = (...flags: string[]) => club.run(['apply', '-f', club.file, ...flags], {}, url)
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
      const pair = { appId: club.secretOf('till').app_id!, appToken: club.secretOf('till').app_token! }
      expect((await club.service.issue(pair, 'rewards')).status).toBe(200)
    })

    test('a secret whose request has an unknown result counts as lost until --regenerate replaces the secret', async () => {
      club.write(BASIC.replace(/ +ip_whitelist.*\n/, ''))
      await club.apply()
      // As a kill between the answer and the write leaves it, the last line cut off.
      const lines = readFileSync(club.secretsFile, 'utf8').split('\n')
      const cut = lines.map((line) =>
        line.includes('"created"') && line.includes('"till"') ? line.slice(0, 60) : line,
      )
      writeFileSync(club.secretsFile, cut.join('\n').trimEnd(), { mode: 0o600 })
      for (const flags of [[], ['--plan']]) {
        const { code, err } = await club.apply(flags)
        expect([code, err]).toEqual([1, expect.stringMatching(/Lost secret of: key "till".*--regenerate/s)])
      }
      expect(await club.apply(['--regenerate'])).toMatchObject({
        code: 0,
        out: expect.stringContaining('new secret'),
      })
      const pair = { appId: club.secretOf('till').app_id!, appToken: club.secretOf('till').app_token! }
      expect((await club.service.issue(pair, 'rewards')).status).toBe(200)
      expect((await club.apply(['--regenerate'])).err).toBe('Nothing to change.\n')
    })
  })
})
