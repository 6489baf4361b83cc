/** biome-ignore-all lint/suspicious/noTemplateCurlyInString: this is the syntax of the file */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CommandFailure } from '../exit.ts'
import type { Io } from '../io.ts'
import { readCatalogue } from '../operations.ts'
import { readDeclaration } from './read-declaration.ts'

const SECRET = `whsec_${'A'.repeat(32)}`
const LITERAL = 'a-literal-header-value'
const VARIABLE = '$'.concat('{CRM_TOKEN}')
const URL = 'target_url: https://hooks.example.com'
const EVENTS = 'events: [customer.reward_redemptions.completed]'
const catalogue = readCatalogue()

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'jeton-declaration-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

const read = (text: string | Buffer, env: Record<string, string> = {}) => {
  const path = join(folder, 'jeton.yaml')
  writeFileSync(path, text)
  return readDeclaration({ env } as Io, { path, catalogue })
}

/** The message without the folder, and the exit code. */
async function refusal(text: string | Buffer, env?: Record<string, string>): Promise<string> {
  const error = await read(text, env).catch((caught: unknown) => caught)
  if (!(error instanceof CommandFailure)) throw new Error(`not refused: ${error}`)
  expect(error.exitCode).toBe(78)
  expect(error.message).not.toMatch(new RegExp(`${SECRET}|${LITERAL}`))
  return error.message.replaceAll(`${folder}/`, '')
}

const project = (more: string) => `projects:\n  - name: Club\n${more.replace(/^/gm, '    ')}`
const distribution = (more: string) =>
  project(`distributions:\n  - name: crm\n    campaign: Gold\n    ${URL}\n    ${more}`)

describe('a file for apply', () => {
  test('a file for apply has the fields of the API, and header values of the environment', async () => {
    const text = distribution('headers: {authorization: "Bearer ${TOKEN}", x-key: "${KEY}"}')
    expect(await read(text, { TOKEN: 'a', KEY: 'b' })).toMatchObject([
      { name: 'Club', distributions: [{ headers: { authorization: 'Bearer a', 'x-key': 'b' } }] },
    ])
    expect(await read('projects: []')).toEqual([])
  })

  test.each<[string, string, string]>([
    [
      'an unknown field',
      project('keyz: []'),
      'jeton.yaml:3:5: "keyz" is not a field here. Did you mean keys? Fields: name',
    ],
    [
      'a misspelt field',
      project('keys:\n  - name: till\n    permisions: [api]'),
      '5:9: "permisions" is not a field here. Did you mean permissions?',
    ],
    ['a missing field', project('keys:\n  - name: till'), '4:9: projects[0].keys[0].permissions is missing.'],
    [
      'an unknown scope',
      project('keys:\n  - {name: till, permissions: [reward]}'),
      '4:36: projects[0].keys[0].permissions[0] must be one of 42 values. Did you mean rewards?',
    ],
    [
      'a bad address',
      project('keys:\n  - {name: t, permissions: [api], ip_whitelist: [10.0.0.0/33]}'),
      '4:54: projects[0].keys[0].ip_whitelist[0] must be an address',
    ],
    [
      'a number as name',
      project('keys:\n  - {name: 7, permissions: [api]}'),
      '4:16: projects[0].keys[0].name must be text. Put it in quotes.',
    ],
    ['text as a list', project('keys: till'), '3:11: projects[0].keys must be a list.'],
    ['an empty section', project('keys:'), '3:10: projects[0].keys must be a list.'],
    ['a list as file', '- name: Club', '1:1: the file must be an object.'],
    ['an empty file', '', '1:1: the file must be an object.'],
    [
      'a limit out of range',
      project('keys:\n  - {name: t, permissions: [api], token_limit: 1001}'),
      'token_limit must be at most 1000.',
    ],
    ['a key that is here twice', 'projects: []\nprojects: []', '2:1: "projects" is here twice.'],
    ['two projects of one name', 'projects:\n  - name: Club\n  - name: Club', '3:11: "Club" is here twice.'],
    [
      'two keys of one name',
      project('keys:\n  - {name: t, permissions: [api]}\n  - {name: t, permissions: [api]}'),
      '5:16: "t" is here twice. Names must be unique.',
    ],
    [
      'two webhooks without a name',
      project(`webhooks:\n  - {${URL}, ${EVENTS}}\n  - {${URL}, ${EVENTS}}`),
      'two webhooks without a name have this target_url. Give each a name.',
    ],
    [
      'the id of a campaign',
      distribution('campaign_id: camp_1'),
      '"campaign_id" is not a field here. Did you mean campaign? Name the campaign',
    ],
    [
      'a missing variable',
      distribution('headers: {x-key: "${NOT_SET}"}'),
      'environment variable NOT_SET is not set. Set it',
    ],
    [
      'a literal header value',
      distribution(`headers: {x-key: ${LITERAL}}`),
      '7:26: projects[0].distributions[0].headers.x-key must come from the environment: write ${CRM_TOKEN}',
    ],
    ['a mask', distribution('headers: {x-key: •••}'), 'headers.x-key must come from the environment'],
    ['a header of ours', distribution('headers: {webhook-id: "${X}"}'), '"webhook-id" is not allowed'],
    [
      'a literal secret',
      project(`webhooks:\n  - {name: crm, ${URL}, ${EVENTS}, description: ${SECRET}}`),
      'this looks like a secret',
    ],
    [
      'a secret in a comment',
      `# ${SECRET}\nprojects: []`,
      'jeton.yaml:1:3: this looks like a secret. Remove it',
    ],
    [
      'a field for a secret',
      project('keys:\n  - {name: t, permissions: [api], app_token: x}'),
      '"app_token" is not a field here. The server makes secrets',
    ],
    ['an alias', 'projects:\n  - &a {name: Club}\n  - *a', '3:5: aliases (*name) are not supported'],
    ['a tag', 'projects: !!js/function "x"', 'jeton.yaml:1:11: '],
    ['two documents', 'projects: []\n---\nprojects: []', 'jeton.yaml:'],
    ['broken YAML', 'projects: [', 'jeton.yaml:1:'],
    [
      'an unquoted variable in braces',
      distribution(`headers: {x-key: ${VARIABLE} ${LITERAL}}`),
      'jeton.yaml:7:',
    ],
    ['a key that is a list', '? [a]\n: b', 'jeton.yaml:1:'],
    ['a prototype', 'projects: []\n__proto__: {x: 1}', '"__proto__" is not a field here'],
  ])(
    'a file with %s is refused with its position and a remedy, and changes nothing',
    async (_, text, says) => {
      const message = await refusal(text)
      expect(message).toContain(says)
      expect(message).toMatch(/\nNothing was changed\.$/)
    },
  )

  test('a file with many mistakes lists the first ten with their positions', async () => {
    const message = await refusal(project(`keys:\n${'  - {name: t}\n'.repeat(30)}`))
    expect(message.match(/permissions is missing/g)).toHaveLength(10)
    expect(message).toContain('20 more.')
  })

  test.each([
    ['is larger than 1 MB', `projects: []\n#${'x'.repeat(1_000_000)}`],
    ['is not UTF-8', Buffer.from([0x70, 0xff, 0xfe])],
    ['is nested too deeply|jeton.yaml:1:', `projects: ${'['.repeat(200_000)}`],
    ['is nested too deeply|jeton.yaml:1:', `projects: ${'['.repeat(5_000)}${']'.repeat(5_000)}`],
    ['is nested too deeply|jeton.yaml:', `${'- '.repeat(100_000)}x`],
    ['is here twice', `${'a: 1\n'.repeat(50_000)}`],
    ['more\\.', `projects:\n${'- {}\n'.repeat(50_000)}`],
    ['aliases', bomb()],
  ])('a hostile file is refused in seconds: %s', async (says, text) => {
    const started = performance.now()
    expect(await refusal(text)).toMatch(new RegExp(says))
    expect(performance.now() - started).toBeLessThan(20_000)
  })
})

/** Nine levels of nine aliases each: three billion entries if they were expanded. */
function bomb(): string {
  const levels = Array.from(
    { length: 9 },
    (_, i) => `a${i + 1}: &a${i + 1} [${new Array(9).fill(`*a${i}`).join(', ')}]`,
  )
  return ['a0: &a0 [x]', ...levels, 'projects: *a9'].join('\n')
}
