import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { saveProfile } from '../../src/cli/profile.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { jeton, newFolder, type Ran, type Surroundings } from '../command-line.ts'
import { byCookie, newSession } from '../operators.ts'
import { OPERATOR, startService, type TestService } from '../service.ts'

let service: TestService
let folder: string
/** An empty project, new for each test. */
let project: { id: string; name: string }
let made = 0

const credentials = () => ({ JETON_MANAGEMENT_ID: OPERATOR.id, JETON_MANAGEMENT_TOKEN: OPERATOR.token })
const here = () => ({
  JETON_URL: service.url,
  ...credentials(),
  JETON_PROJECT: project.name,
  XDG_CONFIG_HOME: folder,
})

const type = (line: string, around: Partial<Surroundings> = {}): Promise<Ran> =>
  typed(line.split(' '), around)
/** For arguments with spaces. */
const typed = (argv: string[], around: Partial<Surroundings> = {}): Promise<Ran> =>
  jeton(argv, { ...around, env: { ...here(), ...around.env } })
const json = async (argv: string[]) => JSON.parse((await typed([...argv, '--json'])).out)
const createKey = (name: string) => json(['key', 'create', '--name', name, '--permissions', 'api'])

beforeAll(async () => {
  folder = newFolder('command-line')
  service = await startService({ JETON_DATA_DIR: join(folder, 'data') }, { clock: systemClock })
})
afterAll(async () => {
  await service.stop()
  rmSync(folder, { recursive: true, force: true })
})
beforeEach(async () => {
  project = await service.project(`Club ${++made}`)
})
afterEach(() => rmSync(join(folder, 'jeton'), { recursive: true, force: true }))

describe('API keys', () => {
  test('a key is created from flags, and its secret is shown once, with a note', async () => {
    const argv =
      'key create --name pos --permissions loyalties,rewards --ip-whitelist 10.0.0.0/8 --ip-whitelist 127.0.0.1 --token-limit 5'
    const { code, out, err } = await type(argv)
    expect(code).toBe(0)
    expect(out).toContain('permissions\tloyalties,rewards\n')
    expect(out).toContain('ip_whitelist\t10.0.0.0/8,127.0.0.1\n')
    expect(out).toMatch(/token_limit\t5\n[\s\S]*\napp_token\tjta_\S+\n$/)
    expect(err).toMatch(/shown only once.*jeton key regenerate key_/s)
    expect((await type('key show pos')).out).not.toContain('jta_')
  })

  test('a key is found by id, app id and name by every command', async () => {
    const key = await createKey('pos gateway')
    for (const name of [key.id, key.app_id, 'pos gateway'])
      expect((await typed(['key', 'show', name])).out).toContain(key.client_id)
    expect((await typed(['key', 'block', 'pos gateway'])).out).toContain('state\tblocked\n')
    expect((await typed(['key', 'unblock', key.app_id])).out).toContain('state\tactive\n')
    expect((await typed(['key', 'update', key.id, '--name', 'till'])).out).toContain('name\ttill\n')
    const regenerated = await type('key regenerate till --grace-seconds 60')
    expect(regenerated.out).toMatch(/app_token\tjta_/)
    expect(regenerated.out).not.toContain(key.app_token)
    expect((await type('key revoke-tokens till')).code).toBe(0)
    expect((await type('key delete till --yes')).out).toContain('state\tdeleted\n')
    expect((await type('key list')).out).toBe('')
    expect((await type('key list --state deleted --quiet')).out).toBe(`${key.id}\n`)
  })

  test('an unknown permission has a short message', async () => {
    const { code, err } = await type('key create --name pos --permissions rewrads')
    expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining('Did you mean rewards?') })
    expect(err.length).toBeLessThan(320)
  })

  test('null clears a nullable field, and an empty value clears a list', async () => {
    await type('key create --name pos --permissions api --token-limit 5 --ip-whitelist 10.0.0.1')
    const { out } = await typed([
      'key',
      'update',
      'pos',
      '--token-limit',
      'null',
      '--ip-whitelist',
      '',
      '--json',
    ])
    expect(JSON.parse(out)).toMatchObject({ token_limit: null, ip_whitelist: [] })
  })

  test('the body can be JSON, a file or standard input, and flags override it', async () => {
    const file = join(folder, 'key.json')
    writeFileSync(file, '{"name":"from file","token_limit":7,"permissions":["api"]}')
    const fields = async (argv: string[], input = '') =>
      JSON.parse((await typed(['key', 'create', '--json', ...argv], { input })).out)
    const plain = '{"name":"plain","permissions":["api"]}'
    expect(await fields(['--data', plain])).toMatchObject({ name: 'plain' })
    expect(await fields(['--data', `@${file}`, '--token-limit', '8'])).toMatchObject({
      name: 'from file',
      token_limit: 8,
    })
    const piped = await fields(['--data', '-', '--permissions', 'api'], '{"name":"piped"}')
    expect(piped).toMatchObject({ name: 'piped' })
    expect((await typed(['key', 'create', '--data', '{"name"'])).code).toBe(2)
  })

  test('an ambiguous name is refused, and both keys are listed', async () => {
    const twin = () => service.key(project.id, { name: 'twin' })
    const [first, second] = [await twin(), await twin()]
    const { code, err } = await type('key block twin')
    expect(code).toBe(2)
    expect(err).toContain(first.id)
    expect(err).toContain(second.id)
    expect((await type('key list --state blocked')).out).toBe('')
  })

  test('an unknown name is exit code 3 with a suggestion', async () => {
    await createKey('Quickstart')
    expect(await type('key show Quikstart')).toMatchObject({
      code: 3,
      err: expect.stringContaining('Did you mean Quickstart?'),
    })
    expect(await type('key show key_0000000000000000')).toMatchObject({
      code: 3,
      err: expect.stringMatching(/Request v-[0-9a-f]{18}/),
    })
  })

  test('--quiet lists ids for the next command, and --all reads every page', async () => {
    for (let n = 0; n < 12; n++) await createKey(`key ${n}`)
    const first = await type('key list --quiet')
    expect(first.out.match(/^key_\w+$/gm)).toHaveLength(10)
    expect(first.err).toContain('10 of 12')
    const all = await type('key list --quiet --all')
    expect(all.out.match(/^key_\w+$/gm)).toHaveLength(12)
    expect(all.err).toBe('')
  })
})

describe('deleting', () => {
  test('without a terminal it is refused, and nothing is deleted', async () => {
    await createKey('pos')
    expect(await type('key delete pos')).toMatchObject({ code: 2, err: expect.stringContaining('--yes') })
    expect((await type('key show pos')).out).toContain('state\tactive\n')
  })

  test('the prompt names the consequence, and only yes deletes', async () => {
    await createKey('pos')
    expect(await type('key delete pos', { answers: [''] })).toMatchObject({
      code: 1,
      err: expect.stringContaining('Nothing was deleted.'),
    })
    expect((await type('key show pos')).out).toContain('state\tactive\n')
    const { code, err } = await type('key delete pos', { answers: ['y'] })
    expect(code).toBe(0)
    expect(err).toContain('Delete API key "pos"? Its tokens stop working immediately. [y/N] ')
  })

  test('a project requires its name as confirmation, which --yes fills in', async () => {
    const other = await service.project('Other club')
    expect((await typed(['project', 'delete', other.id], { answers: ['y'] })).code).toBe(1)
    expect((await typed(['project', 'delete', other.id], { answers: ['Other club'] })).code).toBe(0)
    const third = await service.project('Third club')
    expect(await typed(['project', 'delete', third.name, '--yes'])).toMatchObject({ code: 0, out: '' })
    expect((await typed(['project', 'show', third.id])).code).toBe(3)
  })
})

describe('projects and operators', () => {
  test('a project is created, listed, renamed and read', async () => {
    const { id } = await json(['project', 'create', '--name', 'Fresh'])
    expect((await type('project list --name Fresh')).out).toMatch(new RegExp(`^${id}\tFresh\t0\t1000\t`))
    expect((await type('project update Fresh --name Fresher')).out).toContain('name\tFresher\n')
    expect((await json(['project', 'show', 'Fresher'])).id).toBe(id)
  })

  test('an operator is created, works, gets a new token and is deleted by name', async () => {
    const { id, token } = await json(['operator', 'create', '--name', 'anna', '--role', 'admin'])
    const asAnna = { env: { JETON_MANAGEMENT_ID: id, JETON_MANAGEMENT_TOKEN: token } }
    expect((await type('operator list --quiet', asAnna)).out.split('\n')).toContain(id)
    expect((await type('operator regenerate anna')).out).toMatch(/token\tjtm_/)
    expect(await type('operator list', asAnna)).toMatchObject({
      code: 4,
      err: expect.stringContaining('came from JETON_MANAGEMENT_ID'),
    })
    expect(await type('operator delete anna --yes --quiet')).toMatchObject({ code: 0, out: 'anna\n' })
    expect((await type('operator show anna')).code).toBe(3)
  })

  test('an operator gets its role and projects by flags, which take names and ids of projects', async () => {
    const other = await service.project(`Shop ${made}`)
    const create = ['operator', 'create', '--name', 'eve', '--role', 'editor']
    const eve = await json([...create, '--project', project.name, '--project', other.id])
    expect(eve).toMatchObject({ role: 'editor', projects: [project.id, other.id] })
    const update = (...flags: string[]) => json(['operator', 'update', 'eve', ...flags])
    expect(await update('--project', other.name)).toMatchObject({ role: 'editor', projects: [other.id] })
    expect(await update('--role', 'viewer')).toMatchObject({ role: 'viewer', projects: [other.id] })
    const asEve = { env: { JETON_MANAGEMENT_ID: eve.id, JETON_MANAGEMENT_TOKEN: eve.token } }
    expect((await type('project list --quiet', asEve)).out).toBe(`${other.id}\n`)
    expect(await type(`key create --name k --permissions api --project ${other.id}`, asEve)).toMatchObject({
      code: 1,
      err: expect.stringContaining('jeton operator update'),
    })
    expect(await update('--project', 'null')).toMatchObject({ projects: null })
    expect((await type('operator update eve --project nowhere')).code).toBe(3)
    const { code, err } = await type('operator update eve')
    expect([code, err]).toEqual([2, expect.stringContaining('--name, --role, --project')])
    expect(await type('operator create --local --role viewer')).toMatchObject({ code: 2 })
    expect((await type('operator delete eve --yes')).code).toBe(0)
  })

  test('whoami names the operator, its role and projects, and where the credential came from', async () => {
    const create = ['operator', 'create', '--name', 'ida', '--project', project.name]
    const { id, token } = await json(create)
    const asIda = { env: { JETON_MANAGEMENT_ID: id, JETON_MANAGEMENT_TOKEN: token } }
    const { code, out, err } = await type('whoami', asIda)
    expect(code).toBe(0)
    expect(out).toBe(
      `server\t${service.url}\nid\t${id}\nname\tida\nrole\tviewer\nprojects\t${project.id}\naddress\t127.0.0.1\n`,
    )
    expect(err).toContain('JETON_MANAGEMENT_ID')
    expect((await type('whoami')).out).toContain('role\tadmin\nprojects\tall\n')
    expect((await type('whoami --quiet', asIda)).out).toBe(`${id}\n`)
    expect(JSON.parse((await type('whoami --json', asIda)).out)).toMatchObject({ session: null })
    expect((await type('whoami --curl')).out).toContain('/management/v1/whoami')
    expect((await type('operator delete ida --yes')).code).toBe(0)
    expect((await type('whoami', asIda)).code).toBe(4)
  })

  test('sessions of browsers are listed and ended', async () => {
    const { id, token } = await json(['operator', 'create', '--name', 'uma'])
    const cookie = await newSession(service.url, { id, token })
    const listed = await type('session list --operator uma --quiet')
    expect(listed.out).toMatch(/^sess_\w+\n$/)
    expect(await typed(['session', 'end', listed.out.trim()])).toMatchObject({ code: 0 })
    expect((await byCookie(service.url, cookie)('GET', '/whoami')).status).toBe(401)
    expect((await typed(['session', 'end', listed.out.trim()])).code).toBe(3)
    expect((await type('operator delete uma --yes')).code).toBe(0)
  })

  test('logout forgets the credential and the keys of one server, and leaves the others', async () => {
    const env = { JETON_MANAGEMENT_ID: '', JETON_MANAGEMENT_TOKEN: '', JETON_URL: '' }
    const other = 'http://127.0.0.1:1'
    const credential = { management_id: OPERATOR.id, management_token: OPERATOR.token }
    const keys = { [project.id]: { app_id: 'a', app_token: 'b' } }
    const home = { env: { XDG_CONFIG_HOME: folder } }
    saveProfile(service.url, { ...credential, keys }, { ...home, makeDefault: true })
    saveProfile(other, credential, home)
    expect((await type('whoami', { env })).code).toBe(0)
    const { code, err } = await type('logout', { env })
    expect([code, err]).toEqual([0, expect.stringContaining(`for ${service.url}, and 1 saved API key.`)])
    expect(err).toContain(`jeton operator regenerate ${OPERATOR.id}`)
    const saved = JSON.parse(readFileSync(join(folder, 'jeton', 'config.json'), 'utf8'))
    expect(saved).toEqual({ servers: { [other]: credential } })
    expect(await type(`logout --url ${service.url}`, { env })).toMatchObject({ code: 3 })
    expect((await type(`whoami --url ${service.url}`, { env })).code).toBe(4)
  })

  test('without a project the choices are listed', async () => {
    const { code, err } = await type('key list', { env: { JETON_PROJECT: '' } })
    expect(code).toBe(2)
    expect(err).toContain(project.id)
    expect(
      (await typed(['key', 'list', '--project', project.id], { env: { JETON_PROJECT: 'nonsense' } })).code,
    ).toBe(0)
  })
})

describe('output', () => {
  test('--json is the API response, byte for byte', async () => {
    await createKey('pos')
    const { text } = await service.manage('GET', `/projects/${project.id}/api-keys`)
    expect((await type('key list --json')).out).toBe(`${text}\n`)
  })

  test('people get a table with headings and relative times, programs do not', async () => {
    await createKey('pos')
    const now = Date.now() + 90_000
    const table = (
      await typed(['project', 'list', '--name', project.name], { isTTY: true, now, env: { NO_COLOR: '1' } })
    ).out
    expect(table).toMatch(/^ID\s+NAME\s+ACTIVE TOKENS\s+TOKEN LIMIT\s+CREATED\n/)
    expect(table).toContain('1 min ago')
    const lines = (await type('key list')).out
    expect(lines).toMatch(/^key_\w+\tpos\tactive\tapi\t0\t\t\n$/)
  })

  test('--quiet prints the id, and the secret on standard error', async () => {
    const { out, err } = await type('key create --name pos --permissions api --quiet')
    expect(out).toMatch(/^key_\w+\n$/)
    expect(err).toMatch(/app_token {2}jta_/)
  })

  test('--curl sends nothing and shows no secret', async () => {
    const { code, out } = await typed(['key', 'create', '--name', "it's", '--permissions', 'api', '--curl'])
    expect(code).toBe(0)
    expect(out).toContain(`curl -s '${service.url}/management/v1/projects/${project.id}/api-keys'`)
    expect(out).toContain('X-Management-Token: $JETON_MANAGEMENT_TOKEN')
    expect(out).toContain(`-d '{"name":"it'\\''s","permissions":["api"]}'`)
    expect(out).not.toContain(OPERATOR.token)
    expect((await type('key list')).out).toBe('')
  })

  test('--curl with ids needs neither a credential nor a server', async () => {
    const argv = ['key', 'block', 'key_0000000000000000', '--project', 'proj_0000000000000000', '--curl']
    const { code, out } = await jeton(argv, { env: { XDG_CONFIG_HOME: folder } })
    expect(code).toBe(0)
    expect(out).toContain(
      "curl -s 'http://127.0.0.1:8080/management/v1/projects/proj_0000000000000000/api-keys/key_0000000000000000/block'",
    )
    expect(out).toContain("-d '{}'")
  })

  test('jeton api prints the response unchanged', async () => {
    const { text } = await service.manage('GET', `/projects/${project.id}`)
    expect((await type(`api get /management/v1/projects/${project.id}`)).out).toBe(`${text}\n`)
    expect((await typed(['api', 'GET', 'management'])).code).toBe(2)
    expect((await typed(['api', 'GET', '/management/v1/nothing'])).code).toBe(3)
  })
})

describe('tokens', () => {
  const pairOf = (key: { app_id: string; app_token: string }) => [
    '--app-id',
    key.app_id,
    '--app-token',
    key.app_token,
  ]

  test('a token is issued, introspected, listed by the name of its key, and revoked by its value', async () => {
    const key = await createKey('pos')
    const issued = await typed(['token', 'issue', '--scope', 'loyalties,rewards', '--quiet', ...pairOf(key)])
    const token = issued.out.trim()
    expect(token).toMatch(/^jtn_/)
    const introspected = await typed(['token', 'introspect', token, ...pairOf(key)])
    expect(introspected.out).toContain('scope\tloyalties rewards\n')
    expect(introspected.out).not.toContain(token)
    expect((await type('token list --key pos')).out).toMatch(/^tok_[0-9a-f]{24}\t/)
    expect((await type('token usage')).out).toMatch(/active_tokens\t1\n[\s\S]*\tpos\t1\t/)
    // Without a project: the token names its own.
    const revoked = await typed(['token', 'revoke', token], { env: { JETON_PROJECT: '' } })
    expect(revoked.code).toBe(0)
    expect(revoked.out + revoked.err).not.toContain(token)
    expect((await typed(['token', 'introspect', token, '--quiet', ...pairOf(key)])).out).toBe('inactive\n')
    expect((await typed(['token', 'revoke', token])).code).toBe(3)
    expect((await typed(['token', 'revoke', token.slice(0, -3)])).code).toBe(2)
  })

  test('the secret can come from standard input, and --curl shows neither it nor the token', async () => {
    const key = await createKey('pos')
    const issued = await typed(['token', 'issue', '--app-id', key.app_id, '--quiet'], {
      input: `${key.app_token}\n`,
    })
    const token = issued.out.trim()
    const { out } = await typed(['token', 'introspect', token, '--curl', ...pairOf(key)])
    expect(out).toContain('"token=$TOKEN"')
    expect(out).not.toContain(token)
    expect(out).not.toContain(key.app_token)
  })

  test('at the token limit the exit code is 75, with the time to retry', async () => {
    const key = await json(['key', 'create', '--name', 'pos', '--permissions', 'api', '--token-limit', '1'])
    expect((await typed(['token', 'issue', ...pairOf(key)])).code).toBe(0)
    expect(await typed(['token', 'issue', ...pairOf(key)])).toMatchObject({
      code: 75,
      err: expect.stringMatching(/Try again in \d+ s\./),
    })
  })
})

describe('explain', () => {
  test('a refusal is explained step by step, with names and a command to fix it', async () => {
    const key = await createKey('pos')
    const refused = await service.issue({ appId: key.app_id, appToken: 'wrong' })
    const { code, out } = await typed(['explain', refused.body.request_id])
    expect(code).toBe(0)
    expect(out).toContain('POST /v1/oauth/token')
    expect(out).toContain(`key "pos" of project ${project.name}`)
    expect(out).toContain('✓ the app id belongs to a key')
    expect(out).toContain('✗ the secret is neither the current nor the previous secret of this key')
    expect(out).toContain('→ ')
    expect(out).toContain('jeton key regenerate pos')
  })

  test('a call that a proxy asked about is explained with its own path, and the fix names the missing scope', async () => {
    const key = await json(['key', 'create', '--name', 'pos', '--permissions', 'loyalties'])
    const pair = { appId: key.app_id, appToken: key.app_token }
    const { access_token } = (await service.issue(pair, 'loyalties')).body
    const refused = await fetch(`${service.url}/gateway/authorize`, {
      headers: { authorization: `Bearer ${access_token}`, 'x-original-uri': '/v1/campaigns' },
    })
    const { out } = await typed(['explain', refused.headers.get('x-request-id')!])
    expect(out).toContain('GET /gateway/authorize for /v1/campaigns')
    expect(out).toContain('jeton key update pos --permissions loyalties,campaigns')
  })

  test('a refused command prints the jeton explain command for it', async () => {
    const key = await createKey('pos')
    const { code, err } = await typed(['token', 'issue', '--app-id', key.app_id, '--app-token', 'wrong'])
    expect(code).toBe(4)
    expect(err).toMatch(/jeton explain v-[0-9a-f]{18}/)
  })

  test('a token or an app id is not sent, and the message names jeton check', async () => {
    const nowhere = { XDG_CONFIG_HOME: '/nonexistent', JETON_URL: 'http://127.0.0.1:1' }
    for (const typed of ['jtn_abcdef', '4f0c5d1e-7a52-4b7e-9d0f-3c1f6a2b8e90']) {
      const { code, err } = await jeton(['explain', typed], { env: nowhere })
      expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining('jeton check ') })
      expect(err).not.toContain('jtn_abcdef')
    }
  })

  test('in a terminal no line is wider than 80 columns', async () => {
    const key = await json([
      ...['key', 'create', '--name', 'pos', '--permissions', 'api'],
      ...['--ip-whitelist', '192.0.2.0/24'],
    ])
    const { body } = await service.issue({ appId: key.app_id, appToken: key.app_token })
    const { out } = await typed(['explain', body.request_id], { isTTY: true, env: { NO_COLOR: '1' } })
    expect(out).toContain('✗ the address is not in the IP allowlist')
    for (const line of out.split('\n')) expect([...line].length, line).toBeLessThanOrEqual(80)
  })

  test('an unknown request is exit code 3', async () => {
    expect(await type('explain v-000000000000000000')).toMatchObject({
      code: 3,
      err: expect.stringContaining('o refusal is recorded'),
    })
  })
})

describe('signing in', () => {
  const bare = (argv: string[], around: Partial<Surroundings> = {}) =>
    jeton(argv, { ...around, env: { XDG_CONFIG_HOME: folder, ...around.env } })

  test('without a credential the exit code is 4, with how to get one', async () => {
    expect(await bare(['key', 'list'])).toMatchObject({
      code: 4,
      err: expect.stringContaining('jeton login'),
    })
    expect((await bare(['key', 'list', '--url', service.url, '--management-id', 'x'])).code).toBe(2)
    const half = await bare(['key', 'list'], { env: { JETON_MANAGEMENT_ID: 'x' } })
    expect(half).toMatchObject({ code: 78, err: expect.stringContaining('only valid together') })
  })

  test('login saves a working credential for its owner only, and project use saves a project', async () => {
    const argv = ['login', '--url', `${service.url}/`, '--id', OPERATOR.id]
    expect((await bare([...argv, '--token', 'wrong'])).code).toBe(4)
    expect((await bare(['key', 'list'])).code).toBe(4)
    expect((await bare(argv, { input: `${OPERATOR.token}\n` })).code).toBe(0)
    expect(statSync(join(folder, 'jeton', 'config.json')).mode & 0o777).toBe(0o600)
    await createKey('pos')
    expect((await bare(['key', 'list'])).code).toBe(2)
    expect((await bare(['project', 'use', project.name])).code).toBe(0)
    expect((await bare(['key', 'list'])).out).toContain('\tpos\t')
  })

  test('login prompts for missing values, the token without an echo', async () => {
    const { code, err } = await bare(['login'], { answers: [service.url, OPERATOR.id, OPERATOR.token] })
    expect(code).toBe(0)
    expect(err).not.toContain(OPERATOR.token)
    expect(JSON.parse(readFileSync(join(folder, 'jeton', 'config.json'), 'utf8')).default).toBe(service.url)
  })

  test('a deleted default project is named as such', async () => {
    const other = await service.project('Short-lived')
    await bare([
      'login',
      '--url',
      service.url,
      '--id',
      OPERATOR.id,
      '--token',
      OPERATOR.token,
      '--project',
      other.name,
    ])
    await typed(['project', 'delete', other.id, '--yes'])
    expect(await bare(['key', 'list'])).toMatchObject({
      code: 3,
      err: expect.stringContaining('jeton project use'),
    })
  })
})

describe('failures of the server', () => {
  const answering = async (status: number, headers: Record<string, string>, body: string) => {
    const seen: string[] = []
    const server = createServer((request, response) => {
      seen.push(request.url ?? '')
      response.writeHead(status, headers).end(body)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const close = () => new Promise((resolve) => server.close(resolve).closeAllConnections())
    return { url, seen, close }
  }

  test('an unreachable server is exit code 69', async () => {
    const { url, close } = await answering(200, {}, '')
    await close()
    expect(await typed(['operator', 'list', '--url', url])).toMatchObject({
      code: 69,
      err: expect.stringMatching(/connection refused[\s\S]*Start the server: jeton serve/),
    })
  })

  test('a 503 with Retry-After is exit code 75, with the seconds', async () => {
    const { url, close } = await answering(
      503,
      { 'retry-after': '5' },
      '{"message":"Not now.","key":"temporarily_unavailable"}',
    )
    expect(await typed(['operator', 'list', '--url', url])).toMatchObject({
      code: 75,
      err: 'Not now.\nTry again in 5 s.\n',
    })
    await close()
  })

  test('a response that is not from Jeton is recognized, and a redirect is not followed with the credential', async () => {
    const page = await answering(200, { 'content-type': 'text/html' }, '<html>')
    expect(await typed(['operator', 'list', '--url', page.url])).toMatchObject({
      code: 69,
      err: expect.stringContaining('is not from Jeton'),
    })
    const redirect = await answering(302, { location: `${page.url}/stolen` }, 'moved')
    expect((await typed(['operator', 'list', '--url', redirect.url])).code).toBe(69)
    expect(page.seen).not.toContain('/stolen')
    await Promise.all([page.close(), redirect.close()])
  })

  test('no response of a server can control the terminal', async () => {
    const list = {
      object: 'list',
      data: [{ id: 'op_1', name: 'a\u001b[2Jb\tc' }],
      total: 1,
      next_cursor: null,
    }
    const { url, close } = await answering(200, { 'content-type': 'application/json' }, JSON.stringify(list))
    for (const isTTY of [true, false]) {
      const { out } = await typed(['operator', 'list', '--url', url], { isTTY, env: { NO_COLOR: '1' } })
      expect(out).not.toContain('\u001b')
      expect(out).toContain('a [2Jb c')
    }
    await close()
  })
})
