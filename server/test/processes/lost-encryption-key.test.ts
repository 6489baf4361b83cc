import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import type { Finding } from '../../src/app/checks/finding.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { keyIdOf } from '../../src/platform/encryption.ts'
import { encryptionKeyFile, KEY_ADVICE } from '../../src/platform/encryption-key.ts'
import { makeHome, runBinary, serveBinary } from '../binary.ts'
import { jeton } from '../command-line.ts'
import { readDocument } from '../documents.ts'
import { eachEngine, type TestStore } from '../engines.ts'
import { startService } from '../service.ts'

const [RIGHT, OTHER] = [1, 2].map((byte) => Buffer.alloc(32, byte)) as [Buffer, Buffer]
const setting = (key: Buffer) => ({ JETON_ENCRYPTION_KEY: key.toString('base64') })

const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

function newHome(): string {
  const { folder, remove } = makeHome()
  cleanUps.push(remove)
  return folder
}

/** Every file of a folder with its mode and content. */
const contentsOf = (folder: string) =>
  Object.fromEntries(
    readdirSync(folder)
      .sort()
      .map((name) => {
        const path = join(folder, name)
        return [name, [statSync(path).mode & 0o777, readFileSync(path).toString('base64')]]
      }),
  )

const serve = (store: TestStore, key: Buffer) =>
  startService({ ...store.env, ...setting(key) }, { clock: systemClock, worker: false })

/** A webhook whose secret is stored under this key; the service is stopped again. */
async function createWebhook(store: TestStore, key: Buffer): Promise<string> {
  const service = await serve(store, key)
  const { id } = await service.project('Club')
  const { status, body } = await service.manage('POST', `/projects/${id}/webhooks`, {
    target_url: 'https://hooks.example.com/jeton',
    events: ['customer.reward_redemptions.completed'],
  })
  expect(status).toBe(201)
  await service.stop()
  return `/projects/${id}/webhooks/${body.id}`
}

async function encryptionFinding(env: Record<string, string>): Promise<Finding> {
  const { out } = await jeton(['doctor', '--json'], {
    env: { XDG_CONFIG_HOME: newHome(), JETON_PORT: '0', ...env },
  })
  return JSON.parse(out).checks.find(({ name }: Finding) => name === 'encryption')
}

/** Runs a service that must not start. */
async function refused(env: Record<string, string>, args?: readonly string[]) {
  const running = runBinary({ home: newHome(), env, ...(args && { args }) })
  cleanUps.push(() => running.stop('SIGKILL'))
  return { code: await running.ended, out: running.stdout(), err: running.stderr() }
}

eachEngine((engine) => {
  const belongs = ({ env }: TestStore) =>
    env.JETON_DATA_DIR ? encryptionKeyFile(env.JETON_DATA_DIR) : 'JETON_ENCRYPTION_KEY'

  describe('a store with encrypted secrets and without its key', () => {
    test.each([
      ['serve', {}],
      ['serve with two workers', { JETON_WORKERS: '2' }],
      ['worker', {}],
    ])(
      '%s refuses a store without its key with exit code 78, names the place of the key, and creates none',
      async (command, more) => {
        const store = await engine.freshStore()
        await createWebhook(store, RIGHT)
        const { code, out, err } = await refused({ ...store.env, ...more }, [command.split(' ')[0]!])
        expect([code, out]).toEqual([78, ''])
        expect(err.split('\n')).toEqual([expect.stringContaining(belongs(store)), ''])
        expect(err).toContain(keyIdOf(RIGHT))
        if (store.env.JETON_DATA_DIR) expect(readdirSync(store.env.JETON_DATA_DIR)).toEqual(['jeton.db'])
      },
    )

    test('doctor and rotate-encryption-key --plan report a missing key, and neither writes', async () => {
      const store = await engine.freshStore()
      await createWebhook(store, RIGHT)
      const folder = store.env.JETON_DATA_DIR
      const before = folder && contentsOf(folder)
      expect(await encryptionFinding(store.env)).toMatchObject({
        result: 'failed',
        says: expect.stringContaining(keyIdOf(RIGHT)),
        do: expect.stringContaining('openssl rand -base64 32'),
      })
      const planned = await jeton(['rotate-encryption-key', '--plan'], { env: store.env })
      expect(planned).toMatchObject({ code: 78, err: expect.stringContaining(belongs(store)) })
      expect(folder && contentsOf(folder)).toEqual(before)
    })

    test('a service starts again once its key is back', async () => {
      const store = await engine.freshStore()
      await createWebhook(store, RIGHT)
      const env = store.env.JETON_DATA_DIR ? {} : setting(RIGHT)
      if (store.env.JETON_DATA_DIR)
        writeFileSync(belongs(store), `${RIGHT.toString('base64')}\n`, { mode: 0o600 })
      const service = await startService({ ...store.env, ...env }, { clock: systemClock, worker: false })
      await service.stop()
      expect((await encryptionFinding({ ...store.env, ...env })).result).toBe('ok')
    })
  })

  describe('a key that does not decrypt the stored secrets', () => {
    test('a service with the wrong key starts and logs the id of the missing key as an error, and doctor fails', async () => {
      const store = await engine.freshStore()
      await createWebhook(store, RIGHT)
      const env = { ...store.env, ...setting(OTHER), JETON_HOST: '0.0.0.0' }
      const running = await serveBinary({ home: newHome(), env })
      cleanUps.push(() => running.stop('SIGKILL'))
      const [line] = await running.printed(/.*cannot decrypt.*\n/)
      expect(JSON.parse(line)).toMatchObject({ level: 'error', missing_keys: [keyIdOf(RIGHT)] })
      expect(await encryptionFinding({ ...store.env, ...setting(OTHER) })).toMatchObject({
        result: 'failed',
        says: expect.stringContaining(keyIdOf(RIGHT)),
      })
      const both = { JETON_ENCRYPTION_KEY: [OTHER, RIGHT].map((key) => key.toString('base64')).join(',') }
      expect((await encryptionFinding({ ...store.env, ...both })).result).toBe('ok')
    })

    test('a new key is accepted after every secret was rotated without an overlap', async () => {
      const store = await engine.freshStore()
      const path = await createWebhook(store, RIGHT)
      const service = await serve(store, OTHER)
      const rotated = await service.manage('POST', `${path}/rotate-secret`, { overlap_seconds: 0 })
      expect(rotated.status).toBe(200)
      await service.stop()
      expect((await encryptionFinding({ ...store.env, ...setting(OTHER) })).result).toBe('ok')
    })
  })
})

describe('plans and doctor write nothing', () => {
  const commands = [
    ['doctor'],
    ['doctor', '--production'],
    ['migrate', '--plan'],
    ['rotate-encryption-key', '--plan'],
  ]

  async function runAll(env: Record<string, string>): Promise<void> {
    for (const argv of commands)
      await jeton(argv, { env: { JETON_PORT: '0', XDG_CONFIG_HOME: newHome(), ...env } })
  }

  test('plans and doctor create no store', async () => {
    const home = newHome()
    await runAll({ JETON_DATA_DIR: join(home, 'data') })
    expect(readdirSync(home)).toEqual([])
  })

  test.each([
    ['with its key, and a file that others can read', async () => undefined],
    ['without its key', async (folder: string) => rmSync(encryptionKeyFile(folder))],
    ['emptied, beside its key', async (folder: string) => writeFileSync(join(folder, 'jeton.db'), '')],
    [
      'empty, without a key',
      async (folder: string) => {
        rmSync(encryptionKeyFile(folder))
        writeFileSync(join(folder, 'jeton.db'), '')
      },
    ],
  ])('in a store %s', async (_, prepare) => {
    const folder = join(newHome(), 'data')
    const service = await startService({ JETON_DATA_DIR: folder }, { clock: systemClock, worker: false })
    await service.stop()
    for (const name of readdirSync(folder)) chmodSync(join(folder, name), 0o644)
    await prepare(folder)
    const before = contentsOf(folder)
    await runAll({ JETON_DATA_DIR: folder })
    expect(contentsOf(folder)).toEqual(before)
  })
})

describe('the files of an embedded store', () => {
  test('a start restricts a key file that others can read, with a warning, and doctor reports it before', async () => {
    const home = newHome()
    const folder = join(home, 'data')
    mkdirSync(folder, { mode: 0o700 })
    const file = encryptionKeyFile(folder)
    writeFileSync(file, `${RIGHT.toString('base64')}\n`)
    chmodSync(file, 0o644)
    expect(await encryptionFinding({ JETON_DATA_DIR: folder })).toMatchObject({
      result: 'failed',
      do: `chmod 600 ${file}`,
    })
    const running = await serveBinary({ home, env: { JETON_HOST: '0.0.0.0' } })
    cleanUps.push(() => running.stop('SIGKILL'))
    const [line] = await running.printed(/.*was readable by others.*\n/)
    expect(JSON.parse(line)).toMatchObject({ level: 'warn', mode: '644' })
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(readFileSync(file, 'utf8').trim()).toBe(RIGHT.toString('base64'))
  })

  test.each(['encryption.key', 'jeton.db-wal'])(
    'an emptied database file beside %s is refused and not changed',
    async (remains) => {
      const home = newHome()
      const first = await serveBinary({ home })
      cleanUps.push(() => first.stop('SIGKILL'))
      await first.printed(/Ctrl-C/)
      if (remains === 'jeton.db-wal') await first.stop('SIGKILL')
      else await first.stop()
      const folder = join(home, 'data')
      if (remains !== 'encryption.key') rmSync(encryptionKeyFile(folder))
      writeFileSync(join(folder, 'jeton.db'), '')
      const before = contentsOf(folder)
      expect(Object.keys(before)).toContain(remains)
      const running = runBinary({ home })
      cleanUps.push(() => running.stop('SIGKILL'))
      expect(await running.ended).toBe(78)
      expect(running.stdout()).toBe('')
      expect(running.stderr()).toMatch(/^\.\/data\/jeton\.db is empty \(0 bytes\), but a store was here.*\n$/)
      expect(contentsOf(folder)).toEqual(before)
    },
  )

  test('an empty database file alone becomes a new store, with a warning', async () => {
    const home = newHome()
    mkdirSync(join(home, 'data'), { mode: 0o700 })
    writeFileSync(join(home, 'data', 'jeton.db'), '')
    const running = await serveBinary({ home })
    cleanUps.push(() => running.stop('SIGKILL'))
    await running.printed(/Ctrl-C/)
    expect(running.stdout()).toContain('"msg":"the file is empty (0 bytes), so a new store is created in it"')
  })
})

test.each([
  'docs/reference/settings.md',
  'docs/operate/deploy.md',
  'docs/operate/back-up.md',
  'docs/operate/scale.md',
])('%s gives the same advice about the key as doctor', async (path) => {
  const text = readDocument(path).text.replace(/\s+/g, ' ')
  expect(text.includes(KEY_ADVICE)).toBe(true)
  const { says } = await encryptionFinding({ ...setting(RIGHT), JETON_DATA_DIR: join(newHome(), 'data') })
  expect(says).toContain(KEY_ADVICE)
})
