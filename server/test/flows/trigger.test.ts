import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createSample } from '../../src/app/first-start.ts'
import { saveProfile } from '../../src/cli/profile.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { readConfig } from '../../src/platform/config/index.ts'
import { jeton, newFolder } from '../command-line.ts'
import { apiOf, ok, openShop } from '../loyalty.ts'
import { OPERATOR, startService, type TestService } from '../service.ts'

let folder: string
let service: TestService
let projectId: string

/** As after a first start: the sample, and what the command line keeps of it. */
beforeAll(async () => {
  folder = newFolder('trigger')
  const settings = { JETON_DATA_DIR: join(folder, 'data'), JETON_SAMPLE: 'on' }
  service = await startService(settings, { clock: systemClock })
  const config = readConfig({
    ...settings,
    JETON_MANAGEMENT_ID: OPERATOR.id,
    JETON_MANAGEMENT_TOKEN: OPERATOR.token,
  })
  const { sample } = await createSample(service.service.db, config)
  projectId = sample!.projectId
  const keys = { [projectId]: { app_id: sample!.appId, app_token: sample!.appToken } }
  const profile = { management_id: OPERATOR.id, management_token: OPERATOR.token, project: projectId, keys }
  saveProfile(service.url, profile, { env: { XDG_CONFIG_HOME: folder } })
})
afterAll(async () => {
  await service.stop()
  rmSync(folder, { recursive: true, force: true })
})

const trigger = (...flags: string[]) => jeton(['trigger', ...flags], { env: { XDG_CONFIG_HOME: folder } })
const events = async (): Promise<{ id: string; group_id: string }[]> =>
  (await service.manage('GET', `/projects/${projectId}/events?limit=100`)).body.data

test('jeton trigger redeems a mug, and prints its event with the next commands', async () => {
  const { code, out, err } = await trigger('redemption')
  const [event] = await events()
  expect({ code, out }).toEqual({
    code: 0,
    out: expect.stringMatching(
      new RegExp(
        `^r_\\w+ {3}Mug {3}100 points, 400 left\n${event!.id} {3}customer.reward_redemptions.completed\n$`,
      ),
    ),
  })
  expect(err).toContain(`jeton delivery list --event ${event!.id}\n`)
  expect(err).toContain('jeton listen --forward-to localhost:3000/hook --since 5m\n')
})

test('jeton trigger --quiet prints event ids, and --json the API response', async () => {
  const { out, err } = await trigger('--quiet')
  expect(out).toBe(`${(await events())[0]!.id}\n`)
  expect(err).toBe('')
  expect(JSON.parse((await trigger('--json')).out)).toMatchObject({ object: 'redemption', amount: 100 })
})

test('jeton trigger can be repeated, since it adds missing points and mugs, with a note', async () => {
  const counted = async () => (await events()).length
  const before = await counted()
  for (let i = 0; i < 2; i++) await trigger('--quiet')
  const { code, err } = await trigger()
  expect(code).toBe(0)
  expect(err).toContain('SAMPLE-1 had 0 points; added 100.')
  expect(await counted()).toBe(before + 3)

  const call = apiOf(service.url, await service.key(projectId))
  const { data: rewards } = await ok(call('GET', '/rewards'))
  await ok(call('PUT', `/rewards/${rewards[0].id}`, { stock: 0 }))
  const restocked = await trigger('redemption', '--reward', 'Mug')
  expect(restocked.code).toBe(0)
  expect(restocked.err).toContain('Mug was out of stock; set the stock to 40.')
})

test('jeton trigger in another project requires a card, since it may belong to a real customer', async () => {
  const shop = await openShop(service)
  const card = await shop.member(150)
  await shop.material({ price: 100 })
  const flags = ['--app-id', shop.pair.appId, '--app-token', shop.pair.appToken, '--project', shop.projectId]
  expect(await trigger('redemption', ...flags)).toMatchObject({
    code: 3,
    err: expect.stringMatching(
      /^There is no card "SAMPLE-1" in the project of this key\.[\s\S]*jeton member list --campaign .+ --project proj_\w+ --app-id \S+\n$/,
    ),
  })
  const named = await trigger('redemption', '--member', card.code, ...flags)
  expect(named).toMatchObject({ code: 0, out: expect.stringMatching(/50 left\nevcus_\w+ /) })
  expect(named.err).not.toContain('added')
  // Without an operator's rights it still works, and says where the event is.
  const { out, err } = await jeton(['trigger', '--member', card.code, '--url', service.url, ...flags], {
    env: { XDG_CONFIG_HOME: '/nonexistent' },
  })
  expect(out).toMatch(/^r_\w+ {3}Mug {3}100 points, 0 left\n$/)
  expect(err).toContain(`jeton login --url ${service.url}`)
})

test('jeton trigger with an unknown kind is a usage error', async () => {
  expect(await trigger('redemtion')).toMatchObject({
    code: 2,
    err: expect.stringContaining('Did you mean redemption?'),
  })
  expect(await trigger('redemption', '--reward', 'Mgu')).toMatchObject({
    code: 3,
    err: expect.stringContaining('Did you mean Mug?'),
  })
})
