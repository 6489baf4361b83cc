import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { saveProfile } from '../../src/cli/profile.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { makeHome, serveBinary } from '../binary.ts'
import { jeton, newFolder } from '../command-line.ts'
import { OPERATOR, startService, type TestService } from '../service.ts'

const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

test('a first start on another port does not change the default server, and says how to use the new one', async () => {
  const home = makeHome()
  cleanUps.push(home.remove)
  const start = async (data: string) => {
    const env = { JETON_DATA_DIR: join(home.folder, data) }
    const running = await serveBinary({ home: home.folder, env })
    cleanUps.push(() => running.stop('SIGKILL'))
    await running.printed(/Ctrl-C/)
    return running
  }
  const first = await start('first')
  const second = await start('second')
  const profile = JSON.parse(readFileSync(join(home.folder, '.config', 'jeton', 'config.json'), 'utf8'))
  expect(profile.default).toBe(first.url)
  expect(Object.keys(profile.servers)).toEqual([first.url, second.url])
  expect(first.stdout()).not.toContain('still go to')
  expect(second.stdout()).toContain(`still go to ${first.url}. To use this server:`)
  expect(second.stdout()).toContain(`export JETON_URL=${second.url}\n`)
  const config = { XDG_CONFIG_HOME: join(home.folder, '.config') }
  const listed = await jeton(['project', 'list', '--quiet'], { env: { ...config, JETON_URL: second.url } })
  expect(listed.out.trim()).toBe(profile.servers[second.url].project)
})

let folder: string
let service: TestService
beforeAll(async () => {
  folder = newFolder('several-servers')
  service = await startService({ JETON_DATA_DIR: join(folder, 'data') }, { clock: systemClock })
})
afterAll(async () => {
  await service.stop()
  rmSync(folder, { recursive: true, force: true })
})

test('with several servers, commands that change something name their server, and reads do not', async () => {
  const env = { XDG_CONFIG_HOME: folder }
  const credential = { management_id: OPERATOR.id, management_token: OPERATOR.token }
  saveProfile(service.url, credential, { env })
  const type = (...argv: string[]) => jeton(argv, { env })
  const named = `Server: ${service.url}\n`
  expect((await type('project', 'create', '--name', 'Alone')).err).not.toContain('Server:')

  saveProfile('http://127.0.0.1:1', credential, { env })
  expect((await type('project', 'create', '--name', 'Club')).err).toContain(named)
  await type('project', 'use', 'Club')
  const key = ['key', 'create', '--name', 'pos', '--permissions', 'api', '--save']
  expect((await type(...key)).err).toContain(named)
  expect((await type('token', 'issue', '--quiet')).err).toBe(named)
  expect((await type('api', 'POST', '/management/v1/projects', '--data', '{"name":"Raw"}')).err).toBe(named)
  const asked = await jeton(['key', 'delete', 'pos'], { env, answers: ['n'] })
  expect(asked.err.startsWith(named)).toBe(true)
  for (const read of [
    ['key', 'list'],
    ['api', 'GET', '/management/v1/projects'],
    ['key', 'block', 'pos', '--curl'],
  ])
    expect((await type(...read)).err, read.join(' ')).toBe('')
})

test('login names the previous default server', async () => {
  const env = { XDG_CONFIG_HOME: join(folder, 'login') }
  saveProfile('http://127.0.0.1:1', { management_id: 'x', management_token: 'y' }, { env })
  const argv = ['login', '--url', service.url, '--id', OPERATOR.id, '--token', OPERATOR.token]
  expect((await jeton(argv, { env })).err).toContain(
    `Commands now go to ${service.url} instead of http://127.0.0.1:1 as ${OPERATOR.id}.`,
  )
})

test('a saved local operator does not change the default server', async () => {
  const env = { XDG_CONFIG_HOME: join(folder, 'local'), JETON_DATA_DIR: join(folder, 'data') }
  saveProfile('http://127.0.0.1:1', { management_id: 'x', management_token: 'y' }, { env })
  const argv = ['operator', 'create', '--local', '--save', '--url', service.url]
  expect((await jeton(argv, { env })).err).toContain(
    `Commands still go to http://127.0.0.1:1. To use this server: export JETON_URL=${service.url}`,
  )
})
