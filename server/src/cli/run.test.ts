import type { Command } from 'commander'
import { describe, expect, test } from 'vitest'
import { jeton } from '../../test/command-line.ts'
import type { Io } from './io.ts'
import { buildProgram } from './run.ts'

const type = (line: string, env = {}) =>
  jeton(line.split(' ').filter(Boolean), { env: { XDG_CONFIG_HOME: '/nonexistent', ...env } })

describe('help', () => {
  test('the first screen is short and lists every noun with its verbs', async () => {
    const { code, out } = await type('')
    expect(code).toBe(0)
    expect(out.split('\n').length).toBeLessThan(80)
    for (const line of [
      'serve',
      'doctor',
      'explain',
      'tour',
      'listen',
      'trigger',
      'verify',
      'list create show update delete use',
      'list revoke usage check issue introspect',
    ])
      expect(out).toContain(line)
    expect(out).not.toMatch(/oauth|health|of-project/)
  })

  test('every command has help without a server, and no line is wider than 80 columns', async () => {
    const io = { argv: [], env: {}, isTTY: false } as unknown as Io
    const seen: string[] = []
    const walk = async (command: Command, path: readonly string[]): Promise<void> => {
      const line = path.join(' ')
      seen.push(line)
      const { code, out, err } = await type(`${line} --help`)
      expect([code, err], line).toEqual([0, ''])
      expect(out).toContain(`Usage: jeton ${line}`)
      for (const shown of out.split('\n')) expect([...shown].length, shown).toBeLessThanOrEqual(80)
      for (const child of command.commands) await walk(child, [...path, child.name()])
    }
    await walk(buildProgram(io), [])
    const before = ['serve', 'worker', 'migrate', 'backup', 'restore', 'config', 'doctor', 'explain', 'tour']
    const events = ['listen', 'trigger', 'verify', 'event tail', 'event kinds']
    const nouns = ['operator', 'project', 'key', 'token', 'audit', 'refusal', 'login', 'api']
    expect(seen).toEqual(expect.arrayContaining([...before, ...events, ...nouns]))
  })

  test('help lists the options and has examples', async () => {
    const create = await type('key create --help')
    expect(create.out).toContain('--ip-whitelist <a,b>')
    expect(create.out).toContain('jeton key create --name pos-gateway')
    expect((await type('key list --help')).out).toContain('--state <active|blocked|deleted>')
  })

  test('jeton help prints the first screen, and jeton help with a command prints its help', async () => {
    expect(await type('help')).toEqual(await type('--help'))
    expect(await type('help key create')).toEqual(await type('key create --help'))
    expect(await type('help help')).toEqual(await type('--help'))
  })

  test('no example blocks every key, and a required flag shows no default', async () => {
    expect((await type('key list --help')).out).not.toContain('xargs')
    const { out } = await type('key create --help')
    expect(out.replaceAll(/\s+/g, ' ')).toContain('Scopes that the key can request. Required.')
  })

  test('a noun without a verb is a usage error that lists the verbs', async () => {
    expect(await type('key')).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringContaining('revoke-tokens'),
    })
  })
})

describe('usage errors', () => {
  test.each([
    ['kei list --foo', "Unknown command 'kei'. Did you mean key? See: jeton --help"],
    ['key lst', "Unknown command 'lst'. Did you mean list? See: jeton key --help"],
    ['key list --jsno', "Unknown option '--jsno'. Did you mean --json? See: jeton key list --help"],
    ['key create --ip-whitlist=10.0.0.1', 'Did you mean --ip-whitelist?'],
    ['key show', "Missing required argument 'key'. See: jeton key show --help"],
    ['key create', 'Missing required flags: --name, --permissions.'],
    ['key create --name pos', 'Missing required flag: --permissions.'],
    ['serve --port many', '--port: "many" is not a port.'],
    ['check pos GTE /v1/rewards', '"GTE" is not an HTTP method. Did you mean GET?'],
    ['check pos GET v1/rewards', '"v1/rewards" is not a path.'],
    ['check pos GET /v1/rewards --from office', '--from: "office" is not an IP address'],
    ['help kei', "Unknown command 'kei'. Did you mean key?"],
    ['listen', 'Missing required flag: --forward-to. See: jeton listen --help'],
    ['key update pos', 'Nothing to update. Pass at least one of: --name'],
    ['key update pos --token-limit 5x', '--token-limit: "5x" is not a whole number.'],
    ['key list --state blokced', 'Did you mean blocked?'],
    ['key list --limit', "Option '--limit <number>' argument missing."],
    ['key list --url nonsense', '"nonsense" is not a URL'],
    ['api STEAL /x', 'The method must be one of'],
  ])('%s: one line that says how to fix it, and exit code 2', async (line, says) => {
    const { code, out, err } = await type(line)
    expect(err).toContain(says)
    expect(err.trim().split('\n')).toHaveLength(1)
    expect({ code, out }).toEqual({ code: 2, out: '' })
  })

  test('an invalid setting is exit code 78, and no secret is shown', async () => {
    expect(await type('config', { JETON_PORT: 'x' })).toMatchObject({
      code: 78,
      err: expect.stringContaining('JETON_PORT'),
    })
    expect(await type('migrate', { JETON_PROT: '1' })).toMatchObject({
      code: 78,
      err: expect.stringContaining('JETON_PORT'),
    })
    expect(await type('key list', { JETON_URL: 'nonsense' })).toMatchObject({
      code: 78,
      err: expect.stringContaining('JETON_URL'),
    })
  })
})

test('config shows the settings in effect and where they come from, with secrets masked', async () => {
  const env = { JETON_PORT: '9000', JETON_DATABASE_URL: 'postgres://jeton:hush@db1/jeton' }
  const { out } = await type('config --local', env)
  expect(out).toContain('JETON_PORT\t9000\tenvironment\t8080\n')
  expect(out).toContain('JETON_HOST\t127.0.0.1\tdefault\t127.0.0.1\n')
  expect(out).not.toContain('hush')
  const { settings } = JSON.parse((await type('config --local --json', env)).out)
  const port = { name: 'JETON_PORT', value: '9000', source: 'environment', default: '8080' }
  expect(settings).toContainEqual(port)
})

test('hints name the program as it was started: npx jeton under npm, jeton otherwise', async () => {
  const hint = async (env: Record<string, string>) => (await type('key list', env)).err
  expect(await hint({})).toContain('Sign in: jeton login --url')
  expect(await hint({ npm_command: 'exec' })).toContain('Sign in: npx jeton login --url')
  expect((await type('key show', { npm_command: 'exec' })).err).toContain('See: npx jeton key show --help')
  expect((await type('key create --help', { npm_command: 'exec' })).out).toContain(
    '  npx jeton key create --name',
  )
})
