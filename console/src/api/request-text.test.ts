import { execFileSync } from 'node:child_process'
import { beforeAll, expect, test } from 'vitest'
import { cliText, curlText } from './request-text.ts'

beforeAll(() => {
  Object.assign(globalThis, { location: { origin: 'https://jeton.example' } })
})

/** The words that a shell makes of a command. */
const wordsOf = (command: string): string[] =>
  execFileSync('sh', ['-c', `printf '%s\\n' ${command.replaceAll('\\\n', ' ')}`], {
    encoding: 'utf8',
    env: { JETON_MANAGEMENT_ID: 'op_1', JETON_MANAGEMENT_TOKEN: 'from the environment' },
  })
    .trimEnd()
    .split('\n')

test('a request is copied as one curl command that takes the credential from the environment', () => {
  const text = curlText({
    path: '/projects/proj_1/api-keys',
    query: { state: 'active', name: undefined, address: '' },
  })
  expect(wordsOf(text)).toEqual([
    'curl',
    '-s',
    'https://jeton.example/management/v1/projects/proj_1/api-keys?state=active',
    '-H',
    'X-Management-Id: op_1',
    '-H',
    'X-Management-Token: from the environment',
  ])
})

test.each([`it's; rm -rf ~`, '$(id)', '`id`', 'a"b', '<script>', 'ünï cødé'])(
  'hostile text stays one word of the shell: %s',
  (name) => {
    const body = wordsOf(curlText({ method: 'POST', path: '/projects', body: { name } })).at(-1)
    expect(JSON.parse(body!)).toEqual({ name })
    expect(wordsOf(cliText('key list', { name, state: undefined }))).toEqual([
      'jeton',
      'key',
      'list',
      '--name',
      name,
    ])
  },
)
