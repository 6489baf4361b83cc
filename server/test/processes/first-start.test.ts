import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sampleKeyIn } from '../binary.ts'
import { jetonProcess, newFolder, spawnJeton } from '../command-line.ts'

let folder: string
let env: Record<string, string>
let child: ReturnType<typeof spawnJeton>
let printed = ''

/** The service as a person starts it: the binary, with no setting except its folders. */
beforeAll(async () => {
  folder = newFolder('first-start')
  env = { JETON_DATA_DIR: join(folder, 'data'), XDG_CONFIG_HOME: join(folder, 'config'), JETON_PORT: '0' }
  child = spawnJeton(['serve'], env)
  const ended = new Promise((_, reject) =>
    child.once('exit', (code) => reject(new Error(`ended with ${code}\n${printed}`))),
  )
  const ready = new Promise<void>((resolve) => {
    child.stdout.on('data', (chunk) => {
      printed += chunk
      if (printed.includes('Ctrl-C')) resolve()
    })
  })
  await Promise.race([ready, ended])
})
afterAll(async () => {
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGTERM')
  await ended
  rmSync(folder, { recursive: true, force: true })
})

const typed = (...argv: string[]) => jetonProcess(argv, { XDG_CONFIG_HOME: env.XDG_CONFIG_HOME! })

test('the command line works after the first start without configuration', async () => {
  const { code, out, err } = await typed('key', 'list')
  expect({ code, err }).toEqual({ code: 0, err: '' })
  expect(out).toMatch(/^key_\w+\tQuickstart\tactive\tapi\t0\t\t\n$/)
})

test('the commands that the first start prints work', async () => {
  const { appId, appToken } = sampleKeyIn(printed)
  const issued = await typed(
    'token',
    'issue',
    '--app-id',
    appId,
    '--app-token',
    appToken,
    '--scope',
    'loyalties rewards',
    '--json',
  )
  expect(JSON.parse(issued.out)).toMatchObject({ scope: 'loyalties rewards', expires_in: 900 })
  expect((await typed('key', 'block', 'Quickstart')).code).toBe(0)
  const introspected = await typed(
    'token',
    'introspect',
    JSON.parse(issued.out).access_token,
    '--app-id',
    appId,
    '--app-token',
    appToken,
  )
  expect(introspected).toMatchObject({ code: 4, err: expect.stringContaining('blocked') })
})

test('the binary ends with the exit code of the command', async () => {
  expect((await typed('key', 'show', 'nobody')).code).toBe(3)
  expect((await typed('kei')).code).toBe(2)
  expect((await jetonProcess(['config'], { ...env, JETON_PORT: 'x' })).code).toBe(78)
  const taken = await jetonProcess(['serve'], {
    ...env,
    JETON_DATA_DIR: join(folder, 'other'),
    JETON_PORT: /127\.0\.0\.1:(\d+)/.exec(printed)![1]!,
  })
  expect(taken).toMatchObject({ code: 78, err: expect.stringContaining('is taken') })
})
