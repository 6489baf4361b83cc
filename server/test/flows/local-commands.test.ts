import { execFileSync } from 'node:child_process'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { profilePath, readProfiles, saveProfile } from '../../src/cli/profile.ts'
import { SCOPE_VALUES } from '../../src/contract/scopes.ts'
import { jeton, newFolder } from '../command-line.ts'
import { isInstalled } from '../proxy.ts'

const type = (line: string, env: Record<string, string> = { XDG_CONFIG_HOME: '/nowhere' }, more = {}) =>
  jeton(line.split(' '), { env, ...more })

describe('jeton scope list', () => {
  test('lists every scope with the path that it opens, without a server', async () => {
    const { code, out } = await type('scope list')
    const lines = out.trim().split('\n')
    expect([code, lines.length]).toEqual([0, SCOPE_VALUES.length])
    expect(lines).toContain('SKUs\t/v1/skus')
    expect(lines).toContain('client_api\t/client/v1/*')
    expect((await type('scope list --quiet')).out.trim().split('\n')).toEqual(SCOPE_VALUES)
    expect(JSON.parse((await type('scope list --json')).out)).toContainEqual({ scope: 'api', path: '/v1/*' })
  })
})

describe('jeton server', () => {
  const urls = ['http://127.0.0.1:1', 'http://127.0.0.1:2', 'http://127.0.0.1:3']
  function prepared() {
    const env = { XDG_CONFIG_HOME: newFolder('servers') }
    for (const [i, url] of urls.entries())
      saveProfile(
        url,
        { management_id: `op_${i}`, management_token: `secret-${i}`, project: `proj_${i}` },
        { env },
      )
    return env
  }

  test('lists saved servers without their secrets, and marks the default', async () => {
    const env = prepared()
    const listed = await type('server list', env)
    expect(listed.out).toBe(urls.map((url, i) => `${url}\t${i === 0}\top_${i}\tproj_${i}\t0\n`).join(''))
    expect(JSON.parse((await type('server list --json', env)).out)[1]).toEqual({
      url: urls[1],
      is_default: false,
      operator: 'op_1',
      project: 'proj_1',
      saved_keys: 0,
    })
    for (const flags of ['', ' --json', ' --quiet'])
      expect((await type(`server list${flags}`, env)).out).not.toContain('secret')
    expect((await type('server list', { ...env, JETON_URL: urls[1]! })).err).toContain('takes precedence')
    expect(await type('server list')).toEqual({ code: 0, out: '', err: '' })
  })

  test('changes the default, and only that', async () => {
    const env = prepared()
    const before = readProfiles(env)
    const used = await type(`server use ${urls[1]}/`, env)
    expect([used.code, used.err]).toEqual([0, `Commands now go to ${urls[1]}.\n`])
    expect(readProfiles(env)).toEqual({ ...before, default: urls[1] })
    expect(statSync(profilePath(env)).mode & 0o777).toBe(0o600)
    const unknown = await type('server use http://127.0.0.1:9', env)
    expect([unknown.code, unknown.err]).toEqual([
      3,
      expect.stringContaining('jeton login --url http://127.0.0.1:9'),
    ])
    expect((await type('server use nonsense', env)).code).toBe(2)
  })

  test('removes a server after a confirmation, and keeps the others', async () => {
    const env = prepared()
    const text = () => readFileSync(profilePath(env), 'utf8')
    const before = text()
    expect((await type(`server remove ${urls[1]}`, env)).code).toBe(2)
    expect((await type(`server remove ${urls[1]}`, env, { answers: ['n'] })).code).toBe(1)
    expect(text()).toBe(before)
    const asked = await type(`server remove ${urls[1]}`, env, { answers: ['y'] })
    expect([asked.code, asked.err]).toEqual([
      0,
      expect.stringContaining('API keys are deleted from this machine'),
    ])
    expect(Object.keys(readProfiles(env).servers)).toEqual([urls[0], urls[2]])
    expect(text()).not.toContain('secret-1')
    const last = await type(`server remove ${urls[0]} --yes`, env)
    expect(last.err).toContain(`jeton server use ${urls[2]}`)
    expect(readProfiles(env).default).toBeUndefined()
    expect((await type(`server remove ${urls[0]} --yes`, env)).code).toBe(3)
  })
})

describe('jeton completion', () => {
  test.each(['bash', 'zsh', 'fish'])('prints a script for %s with every command and flag', async (shell) => {
    const { code, out } = await type(`completion ${shell}`)
    expect(code).toBe(0)
    for (const word of ['recover', '--http-status', 'regenerate', 'completion', '--dry-run'])
      expect(out).toContain(word)
    if (isInstalled(shell)) {
      const file = join(newFolder('completion'), 'script')
      writeFileSync(file, out)
      execFileSync(shell, ['-n', file])
    }
  })

  test('refuses another shell with the names of those it knows', async () => {
    const { code, err } = await type('completion tcsh')
    expect([code, err]).toEqual([2, expect.stringContaining('bash, zsh, fish')])
  })

  test.skipIf(!isInstalled('bash'))('completes in bash what can follow', async () => {
    const { out } = await type('completion bash')
    const complete = (line: string) => {
      const words = ['jeton', ...line.split(' ')]
      const script = `${out}\nCOMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')})\nCOMP_CWORD=${words.length - 1}\n_jeton\nprintf '%s\\n' "\${COMPREPLY[@]}"`
      return execFileSync('bash', ['-c', script], { encoding: 'utf8' }).trim().split('\n')
    }
    expect(complete('deliv')).toEqual(['delivery'])
    expect(complete('delivery re')).toEqual(['retry', 'recover'])
    expect(complete('delivery list --htt')).toEqual(['--http-status'])
    expect(complete('delivery list --project key --sta')).toEqual(['--status'])
    expect(complete('server u')).toEqual(['use'])
    expect(complete('key --')).toEqual(['--help'])
    expect(complete('nothing')).toEqual([''])
  })
})
