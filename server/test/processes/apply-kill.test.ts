import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { startChangingProxy } from '../changing-proxy.ts'
import { jeton, newFolder, spawnJeton } from '../command-line.ts'
import { eachEngine } from '../engines.ts'
import { OPERATOR, startService, type TestService } from '../service.ts'
import { TestClock } from '../test-clock.ts'

const EVENT = 'customer.reward_redemptions.completed'

/** Seven requests change something: the project, a key, its block, another key, a webhook, a limit, and a deletion. */
const declarationOf = (project: string) => `projects:
  - name: ${project}
    keys:
      - {name: blocked, permissions: [rewards], state: blocked}
      - {name: till, permissions: [rewards], token_limit: 7}
    webhooks:
      - {name: crm, target_url: https://crm.example.com/hook, events: [${EVENT}]}
  - name: ${project} that exists
    keys:
      - {name: changed, permissions: [api], token_limit: 7}
`
const CHANGING_REQUESTS = 7

eachEngine((engine) => {
  let service: TestService

  beforeAll(async () => {
    const env = { ...(await engine.settings()), JETON_ENCRYPTION_KEY: Buffer.alloc(32, 9).toString('base64') }
    service = await startService(env, { clock: new TestClock(), worker: false })
  })
  afterAll(() => service.stop())

  const kills = Array.from({ length: CHANGING_REQUESTS }, (_, i) => i + 1).flatMap((at) =>
    (['before', 'after'] as const).map((when) => ({ at, when })),
  )

  test.each(kills)(
    'an apply that is killed $when the server makes change $at converges when it runs again, and no secret is lost unnoticed',
    async (kill) => {
      const folder = newFolder('apply-kill')
      onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
      const [file, project] = [join(folder, 'jeton.yaml'), `${kill.at} ${kill.when}`]
      writeFileSync(file, declarationOf(project))
      const { id } = await service.project(`${project} that exists`)
      const [changed, old] = [
        await service.key(id, { name: 'changed' }),
        await service.key(id, { name: 'old' }),
      ]
      const env = {
        JETON_MANAGEMENT_ID: OPERATOR.id,
        JETON_MANAGEMENT_TOKEN: OPERATOR.token,
        XDG_CONFIG_HOME: folder,
      }
      let end = () => undefined as unknown
      // The client gets no answer to the chosen request.
      const killAt = async (number: number) => {
        if (number === kill.at) end()
        return number !== kill.at
      }
      const proxy = await startChangingProxy(service.url, { [kill.when]: killAt })
      const child = spawnJeton(['apply', '-f', file, '--prune', '--yes'], { ...env, JETON_URL: proxy })
      end = () => child.kill('SIGKILL')
      const signal = await new Promise((resolve) => child.once('exit', (_, ended) => resolve(ended)))
      expect(signal).toBe('SIGKILL')

      const apply = (...flags: string[]) =>
        jeton(['apply', '-f', file, '--prune', '--yes', ...flags], { env: { ...env, JETON_URL: proxy } })
      const again = await apply()
      const isLost = kill.when === 'after' && [2, 4, 5].includes(kill.at)
      expect(again).toMatchObject({ code: isLost ? 1 : 0 })
      expect(again.err.includes('Lost secret of')).toBe(isLost)
      if (isLost) expect(await apply('--regenerate')).toMatchObject({ code: 0 })
      expect(await apply('--plan')).toMatchObject({ code: 0, out: '' })

      const lines = readFileSync(join(folder, 'jeton.secrets.jsonl'), 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
      const secretOf = (name: string) =>
        lines.findLast((line) => line.name === name && line.outcome === 'created')
      const till = secretOf('till')
      expect((await service.issue({ appId: till.app_id, appToken: till.app_token }, 'rewards')).status).toBe(
        200,
      )
      const blocked = secretOf('blocked')
      const refused = await service.issue({ appId: blocked.app_id, appToken: blocked.app_token }, 'rewards')
      expect(refused.body.key).toBe('api_key_blocked')
      expect((await service.manage('GET', changed.path)).body.token_limit).toBe(7)
      expect((await service.manage('GET', old.path)).body.state).toBe('deleted')
      const [webhook] = (await service.manage('GET', `/projects/${await idOf(project)}/webhooks`)).body.data
      expect(secretOf('crm').secret.slice(-4)).toBe(webhook.secret_last4)
    },
  )

  const idOf = async (name: string) =>
    (await service.manage('GET', `/projects?name=${encodeURIComponent(name)}`)).body.data[0].id
})
