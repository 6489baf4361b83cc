import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, beforeEach, expect, inject, onTestFinished, test } from 'vitest'
import type { KeyPair, TokenSource, TokenSourceEvent, TokenSourceOptions, TokenStore } from '../src/index.ts'
import type { TestJeton } from '../src/testing/index.ts'
import { core, testing } from './installed.ts'
import { startProxy, type TestProxy } from './proxy.ts'

const TOKEN = '/v1/oauth/token'
let jeton: TestJeton
let proxy: TestProxy
let key: KeyPair & { id: string }
let events: TokenSourceEvent[] = []

beforeAll(async () => {
  jeton = await testing.startJeton()
  proxy = await startProxy(jeton.baseUrl)
})
afterAll(async () => {
  await proxy.close()
  await jeton.stop()
})
beforeEach(async () => {
  proxy.behaviour = 'forward'
  proxy.requests.length = 0
  events = []
  key = await jeton.newKey()
})

/** A store in memory, as one of several processes sees it. */
function memoryStore(): TokenStore & { readonly values: Map<string, string>; readonly locks: Set<string> } {
  const [values, locks] = [new Map<string, string>(), new Set<string>()]
  return {
    values,
    locks,
    get: async (name) => values.get(name),
    set: async (name, value) => void values.set(name, value),
    lock: async (name) => !locks.has(name) && locks.add(name) === locks,
    unlock: async (name) => void locks.delete(name),
  }
}

function sourceOn(store: TokenStore, options: Partial<TokenSourceOptions> = {}): TokenSource {
  const source = core.createTokenSource({
    baseUrl: proxy.url,
    key,
    scope: ['rewards'],
    store,
    now: jeton.now,
    onEvent: (event) => events.push(event),
    ...options,
  })
  onTestFinished(() => source.close())
  return source
}

const activeTokens = async () =>
  (await jeton.management.project(jeton.projectId).keys.get(key.id)).active_tokens

async function lineOf(child: ChildProcess): Promise<string> {
  const [chunk] = await once(child.stdout!, 'data')
  return String(chunk).trim()
}

test('fifty processes with a shared store cost one token, and closing them revokes nothing', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'jeton-token-store-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const programs = join(inject('sdkProject'), 'programs')
  cpSync(fileURLToPath(new URL('./programs', import.meta.url)), programs, { recursive: true })
  const env = {
    ...process.env,
    JETON_URL: proxy.url,
    APP_ID: key.appId,
    APP_TOKEN: key.appToken,
    STORE: folder,
  }
  const digests: string[] = []
  const children = Array.from({ length: 50 }, () =>
    spawn(process.execPath, [join(programs, 'one-of-many.mjs')], { env, stdio: ['pipe', 'pipe', 'inherit'] }),
  )
  await Promise.all(children.map(lineOf))
  for (const child of children) child.stdin!.write('go\n')
  digests.push(...(await Promise.all(children.map(lineOf))))
  expect(digests).toHaveLength(50)
  expect(new Set(digests).size).toBe(1)
  expect(proxy.count(TOKEN)).toBe(1)
  await Promise.all(children.map((child) => child.exitCode ?? once(child, 'exit')))
  expect(await activeTokens()).toBe(1)
})

test('sources of one process and one store refresh once, and all of them take the new token', async () => {
  const store = memoryStore()
  const sources = Array.from({ length: 10 }, () => sourceOn(store))
  const [first] = await Promise.all(sources.map((source) => source.get()))
  await jeton.advance(810_000)
  // The wall clock of this machine has not moved, so the entry in the store looks new: it is made as old as the token is.
  for (const [name, value] of store.values) {
    const fields = JSON.parse(value)
    store.values.set(name, JSON.stringify({ ...fields, expires_at: fields.expires_at - 810 }))
  }
  await expect
    .poll(async () => {
      const tokens = await Promise.all(sources.map((source) => source.get()))
      return tokens.filter(({ value }) => value === first!.value).length
    })
    .toBe(0)
  expect(proxy.count(TOKEN)).toBe(2)
  // The others waited for the lock, which is no failure.
  expect(events.map(({ type }) => type)).toEqual(['issued', 'issued'])
})

test('a token that an API has refused is not taken from the store again', async () => {
  const store = memoryStore()
  const [one, other] = [sourceOn(store), sourceOn(store)]
  const dead = await one.get()
  expect((await other.get()).value).toBe(dead.value)
  one.forget(dead)
  const live = await one.get()
  expect(live.value).not.toBe(dead.value)
  other.forget(dead)
  expect((await other.get()).value).toBe(live.value)
  expect(proxy.count(TOKEN)).toBe(2)
})

test('a store that fails is left out: the process gets a token of its own, and revokes it when it closes', async () => {
  const broken = () => Promise.reject(new Error('no connection'))
  const source = sourceOn({ get: broken, set: broken, lock: broken, unlock: broken })
  expect((await source.get()).value).toMatch(/^jtn_/)
  expect(events.some(({ type }) => type === 'store_failed')).toBe(true)
  await source.close()
  expect(await activeTokens()).toBe(0)
})

test('a process that waits for another one gives up after its timeout, and works once the lock is free', async () => {
  const store = memoryStore()
  const source = sourceOn(store, { timeoutMs: 300, now: () => performance.now() })
  await store.lock(`jeton:token:${new URL(proxy.url).host}:${key.appId}:rewards`, 1_000)
  await expect(source.get()).rejects.toBeInstanceOf(core.JetonUnavailable)
  expect(proxy.count(TOKEN)).toBe(0)
  store.locks.clear()
  expect((await source.get()).value).toMatch(/^jtn_/)
})

test('a refused request frees the lock for the next process', async () => {
  const store = memoryStore()
  proxy.behaviour = 'refuse'
  await expect(sourceOn(store).get()).rejects.toBeInstanceOf(core.JetonUnavailable)
  expect(store.locks.size).toBe(0)
})

test('an entry of a store cannot make a token live longer than a new one, and an unreadable one is ignored', async () => {
  const store = memoryStore()
  await sourceOn(store).get()
  const [name] = [...store.values.keys()]
  const fields = JSON.parse(store.values.get(name!)!)
  store.values.set(name!, JSON.stringify({ ...fields, expires_at: fields.expires_at + 1_000_000 }))
  expect((await sourceOn(store).get()).remainingMs()).toBeLessThan(900_000)
  for (const text of ['', 'null', '{', '[]', '{"access_token":1}']) {
    store.values.set(name!, text)
    expect((await sourceOn(store).get()).value).toMatch(/^jtn_/)
  }
})

test('the store is keyed by server, key and scope, and never by the secret', async () => {
  const store = memoryStore()
  await sourceOn(store, { scope: ['rewards', 'loyalties'] }).get()
  await sourceOn(store, { scope: ['loyalties', 'rewards'] }).get()
  await sourceOn(store, { scope: ['rewards'] }).get()
  expect(store.values.size).toBe(2)
  expect([...store.values.keys()].join()).not.toContain(key.appToken)
})
