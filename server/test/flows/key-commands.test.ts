import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { systemClock } from '../../src/platform/clock.ts'
import { jeton, newFolder, type Surroundings } from '../command-line.ts'
import { OPERATOR, startService, type TestService } from '../service.ts'

let service: TestService
let folder: string
let project: { id: string; name: string }
let made = 0

beforeAll(async () => {
  folder = newFolder('key-commands')
  service = await startService({ JETON_DATA_DIR: join(folder, 'data') }, { clock: systemClock })
})
afterAll(async () => {
  await service.stop()
  rmSync(folder, { recursive: true, force: true })
})
beforeEach(async () => {
  project = await service.project(`Club ${++made}`)
})

const type = (line: string, around: Partial<Surroundings> = {}) =>
  jeton(line.split(' '), {
    ...around,
    env: {
      JETON_URL: service.url,
      JETON_MANAGEMENT_ID: OPERATOR.id,
      JETON_MANAGEMENT_TOKEN: OPERATOR.token,
      JETON_PROJECT: project.name,
      XDG_CONFIG_HOME: folder,
      NO_COLOR: '1',
      ...around.env,
    },
  })

describe('key create', () => {
  test('key create names the project of the new key', async () => {
    const { code, err } = await type('key create --name pos --permissions rewards')
    expect(code).toBe(0)
    expect(err).toContain(`Created API key "pos" in project "${project.name}".\n`)
  })

  test('key create refuses default permissions, also from JSON', async () => {
    for (const line of ['key create --name pos', 'key create --data {"name":"pos"}'])
      expect(await type(line)).toMatchObject({ code: 2, err: expect.stringContaining('--permissions') })
    expect((await type('key list')).out).toBe('')
  })

  test('key create refuses the name of another key, and the suggested command works', async () => {
    const { id } = JSON.parse((await type('key create --name pos --permissions rewards --json')).out)
    const { code, err } = await type('key create --name pos --permissions rewards')
    expect({ code, err }).toEqual({
      code: 1,
      err: expect.stringContaining(`already has an API key named "pos" (${id})`),
    })
    expect((await type('key list --quiet')).out).toBe(`${id}\n`)
    const [, command] = /jeton (key regenerate .*)\n/.exec(err)!
    expect((await type(command!)).out).toContain('app_token\tjta_')
    const other = await service.project(`Beside ${project.name}`)
    const elsewhere = await type('key create --name pos --permissions rewards', {
      env: { JETON_PROJECT: other.id },
    })
    expect(elsewhere.code).toBe(0)
  })
})

describe('check', () => {
  test('jeton check takes the name, id or app id of a key, or a token', async () => {
    const key = await service.key(project.id, { name: 'pos', permissions: ['rewards'] })
    const token = (await service.issue(key, 'rewards')).body.access_token
    for (const credential of ['pos', key.id, key.appId, token]) {
      expect(await type(`check ${credential} get /v1/rewards`), credential).toMatchObject({
        code: 0,
        out: expect.stringMatching(/^GET \/v1\/rewards {3}allowed\n/),
      })
      expect((await type(`check ${credential} GET /v1/campaigns`)).code).toBe(1)
    }
    expect(await type('check pso GET /v1/rewards')).toMatchObject({
      code: 3,
      err: expect.stringContaining('Did you mean pos?'),
    })
  })
})

describe('audit list', () => {
  test('audit list shows the chosen project, and all with --all-projects', async () => {
    await service.key(project.id, { name: 'pos' })
    const other = await service.project(`Audited ${project.name}`)
    const ofOther = await type('audit list', { env: { JETON_PROJECT: other.name } })
    expect(ofOther.out).toContain('project.created')
    expect(ofOther.out).not.toContain('api_key.created')
    expect((await type('audit list')).out).toContain('api_key.created')
    expect((await type('audit list --all-projects --all')).out).toContain('operator.created')
    expect((await type('audit list --all', { env: { JETON_PROJECT: '' } })).out).toContain('operator.created')
    expect((await type(`audit list --all-projects --project ${other.id}`)).code).toBe(2)
  })

  test('audit list shows names to people and ids to programs', async () => {
    const key = await service.key(project.id, { name: 'pos' })
    const anna = (await service.manage('POST', '/operators', { name: 'anna', role: 'admin' })).body
    const asAnna = { JETON_MANAGEMENT_ID: anna.id, JETON_MANAGEMENT_TOKEN: anna.token }
    await type('key block pos', { env: asAnna })
    const shown = await type('audit list --limit 1', { isTTY: true })
    expect(shown.out).toMatch(new RegExp(`api_key\\.blocked +api_key pos +anna +${project.name} +127`))
    expect(shown.err).toContain(
      `Project "${project.name}" only. All projects: jeton audit list --all-projects\n`,
    )
    const { out, err } = await type('audit list --limit 1')
    expect(out).toContain(`\tapi_key.blocked\t${key.id}\t${anna.id}\t${project.id}\t`)
    expect(err).not.toContain('All projects:')
    const { text } = await service.manage('GET', `/projects/${project.id}/audit-log?limit=1`)
    expect((await type('audit list --limit 1 --json', { isTTY: true })).out).toBe(`${text}\n`)
  })
})

test('an empty audit list says so', async () => {
  expect((await type('delivery list', { isTTY: true })).err).toBe('No deliveries.\n')
  expect((await type('key list', { isTTY: true })).err).toBe('No keys.\n')
})

test('the command that jeton explain prints for an address or a permission works', async () => {
  const key = await service.key(project.id, { name: 'pos', ip_whitelist: ['192.0.2.1'] })
  const refused = (await service.issue(key)).body.request_id
  const { out } = await type(`explain ${refused}`)
  expect(out.replaceAll(/\s+/g, ' ')).toContain('jeton key update pos --ip-whitelist 192.0.2.1,127.0.0.1')
  const narrow = await service.key(project.id, { name: 'narrow', permissions: ['rewards'] })
  const headers = { 'x-app-id': narrow.appId, 'x-app-token': narrow.appToken }
  const call = async (path: string) =>
    ((await (await fetch(`${service.url}${path}`, { headers })).json()) as { request_id: string }).request_id
  const explained = async (path: string) =>
    (await type(`explain ${await call(path)}`)).out.replaceAll(/\s+/g, ' ')
  expect(await explained('/v1/campaigns')).toContain(
    'jeton key update narrow --permissions rewards,campaigns',
  )
})
