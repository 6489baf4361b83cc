import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createSample } from '../../src/app/first-start.ts'
import { readProfiles, saveProfile } from '../../src/cli/profile.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { readConfig } from '../../src/platform/config/index.ts'
import { jeton, newFolder, type Surroundings } from '../command-line.ts'
import { openShop } from '../loyalty.ts'
import { OPERATOR, startService, type TestService } from '../service.ts'

let folder: string
let service: TestService
let sampleId: string

/** As after a first start: the sample's key is saved, and its project is the default. */
beforeAll(async () => {
  folder = newFolder('project-use')
  const settings = { JETON_DATA_DIR: join(folder, 'data'), JETON_SAMPLE: 'on' }
  service = await startService(settings, { clock: systemClock })
  const operator = { JETON_MANAGEMENT_ID: OPERATOR.id, JETON_MANAGEMENT_TOKEN: OPERATOR.token }
  const { sample } = await createSample(service.service.db, readConfig({ ...settings, ...operator }))
  sampleId = sample!.projectId
  const keys = { [sampleId]: { app_id: sample!.appId, app_token: sample!.appToken } }
  const profile = { management_id: OPERATOR.id, management_token: OPERATOR.token, project: sampleId, keys }
  saveProfile(service.url, profile, { env: { XDG_CONFIG_HOME: folder } })
})
afterAll(async () => {
  await service.stop()
  rmSync(folder, { recursive: true, force: true })
})

const type = (argv: string[], around: Partial<Surroundings> = {}) =>
  jeton(argv, { ...around, env: { XDG_CONFIG_HOME: folder, ...around.env } })
const tokensOf = async (projectId: string): Promise<number> =>
  (await service.manage('GET', `/projects/${projectId}/tokens`)).body.total

/** The command after a colon in a hint, as it would be pasted. */
const pasted = (text: string, begin: string): string[] => {
  const [command = ''] = text.slice(text.indexOf(begin)).split('\n')
  return [...command.matchAll(/'([^']*)'|\S+/g)].map(([whole, quoted]) => quoted ?? whole).slice(1)
}

test('project use selects the API key: without a saved key commands refuse, and the suggested command saves one', async () => {
  const shop = await openShop(service)
  const { name } = (await service.manage('GET', `/projects/${shop.projectId}`)).body
  const card = await shop.member(250)
  await shop.material({ price: 100 })
  expect((await type(['project', 'use', name])).err).toContain('No API key is saved for it.')
  const clientCommands = [
    ['token', 'issue'],
    ['reward', 'list'],
    ['customer', 'list'],
    ['redeem', card.code, 'Mug'],
    ['trigger', 'redemption', '--member', card.code],
  ]
  let hint = ''
  for (const argv of clientCommands) {
    const { code, out, err } = await type(argv)
    expect({ code, out }, argv.join(' ')).toEqual({ code: 4, out: '' })
    expect(err).toContain(`No API key is saved for project ${JSON.stringify(name)}.`)
    hint = err
  }
  expect(await tokensOf(sampleId)).toBe(0)

  const created = await type(pasted(hint, 'jeton key create'))
  expect(created).toMatchObject({ code: 0, err: expect.stringContaining('Saved in ') })
  for (const argv of clientCommands) expect((await type(argv)).code, argv.join(' ')).toBe(0)
  expect([await tokensOf(shop.projectId), await tokensOf(sampleId)]).toEqual([1, 0])

  await type(['project', 'use', 'Sample'])
  expect((await type(['reward', 'list'])).out).toContain('\tMug\t')
  expect((await type(['token', 'issue', '--quiet', '--project', name])).code).toBe(0)
  expect([await tokensOf(shop.projectId), await tokensOf(sampleId)]).toEqual([2, 0])
})

test('a saved key stays usable after its secret is regenerated, and JETON_PROJECT selects the key as well', async () => {
  const other = await service.project("Joe's club")
  const inOther = { env: { JETON_PROJECT: other.name } }
  const create = ['key', 'create', '--name', 'till', '--permissions', 'api', '--save']
  expect((await type(create, inOther)).code).toBe(0)
  expect((await type(['key', 'regenerate', 'till'], inOther)).err).toContain('Saved in ')
  expect((await type(['token', 'issue', '--quiet'], inOther)).out).toMatch(/^jtn_/)
  expect(await tokensOf(other.id)).toBe(1)
  const used = await type(['project', 'use', 'Sample'], inOther)
  expect(used.err).toContain('JETON_PROJECT is set in this shell')
})

test('hints repeat the given project and server', async () => {
  const { id, name } = await service.project('Two words')
  const { err } = await type(['token', 'issue', '--project', name, '--url', service.url])
  expect(err).toContain(`--save --url ${service.url} --project 'Two words'\n`)
  expect((await type(pasted(err, 'jeton key create'))).code).toBe(0)
  expect(Object.keys(readProfiles({ XDG_CONFIG_HOME: folder }).servers[service.url]!.keys!)).toContain(id)
})

test('--save without a profile refuses before a key is created', async () => {
  const { id } = await service.project('Unsaved')
  const env = {
    XDG_CONFIG_HOME: '/nonexistent',
    JETON_URL: service.url,
    JETON_MANAGEMENT_ID: OPERATOR.id,
    JETON_MANAGEMENT_TOKEN: OPERATOR.token,
  }
  const argv = ['key', 'create', '--name', 'pos', '--permissions', 'api', '--save', '--project', id]
  expect(await type(argv, { env })).toMatchObject({ code: 4, err: expect.stringContaining('jeton login') })
  expect((await service.manage('GET', `/projects/${id}/api-keys`)).body.total).toBe(0)
})
