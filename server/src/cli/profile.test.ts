import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { newFolder } from '../../test/command-line.ts'
import { profilePath, readProfiles, saveDefaultProject, saveKey, saveProfile } from './profile.ts'

let folder: string
let env: { XDG_CONFIG_HOME: string }
beforeEach(() => {
  folder = newFolder('profile')
  env = { XDG_CONFIG_HOME: folder }
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const credential = { management_id: 'op_1', management_token: 'jtm_1' }

test('only the owner can read the file, even if others could before', () => {
  saveProfile('http://a', credential, { env })
  chmodSync(profilePath(env), 0o644)
  saveProfile('http://b', credential, { env })
  expect(statSync(profilePath(env)).mode & 0o777).toBe(0o600)
  expect(statSync(join(folder, 'jeton')).mode & 0o777).toBe(0o700)
  expect(readProfiles(env)).toEqual({
    default: 'http://a',
    servers: { 'http://a': credential, 'http://b': credential },
  })
})

test('the default server changes only if the user chose another one', () => {
  expect(saveProfile('http://a', credential, { env })).toEqual({ before: undefined, after: 'http://a' })
  expect(saveProfile('http://b', credential, { env })).toEqual({ before: 'http://a', after: 'http://a' })
  expect(saveProfile('http://b', credential, { env, makeDefault: true })).toEqual({
    before: 'http://a',
    after: 'http://b',
  })
  expect(Object.keys(readProfiles(env).servers)).toEqual(['http://a', 'http://b'])
})

test('a key pair is saved for its project and keeps those of other projects', () => {
  const key = (name: string) => ({ app_id: name, app_token: `jta_${name}` })
  saveProfile('http://a', { ...credential, keys: { proj_1: key('one') } }, { env })
  expect(saveKey('http://a', { projectId: 'proj_2', key: key('two') }, env)).toBe(true)
  expect(saveKey('http://nowhere', { projectId: 'proj_2', key: key('two') }, env)).toBe(false)
  expect(readProfiles(env).servers['http://a']?.keys).toEqual({ proj_1: key('one'), proj_2: key('two') })
})

test('a new credential keeps the default project', () => {
  saveProfile('http://a', { ...credential, project: 'proj_1' }, { env })
  saveProfile('http://a', { ...credential, management_token: 'jtm_2' }, { env })
  expect(readProfiles(env).servers['http://a']).toEqual({
    management_id: 'op_1',
    management_token: 'jtm_2',
    project: 'proj_1',
  })
  expect(saveDefaultProject('http://a', 'proj_2', env)).toBe(true)
  expect(readProfiles(env).servers['http://a']?.project).toBe('proj_2')
  expect(saveDefaultProject('http://nowhere', 'proj_2', env)).toBe(false)
})

test('a broken file is reported, and renamed rather than lost when a credential is saved', () => {
  mkdirSync(join(folder, 'jeton'))
  writeFileSync(profilePath(env), '{"servers":')
  expect(() => readProfiles(env)).toThrow(/not valid JSON.*jeton login/)
  saveProfile('http://a', credential, { env })
  expect(readProfiles(env).servers['http://a']).toEqual(credential)
  expect(readFileSync(`${profilePath(env)}.broken`, 'utf8')).toBe('{"servers":')
  expect(existsSync(`${profilePath(env)}.${process.pid}`)).toBe(false)
})
