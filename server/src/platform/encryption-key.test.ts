import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { encryptionKeyFile, makeEncryptionKey, parseKey, readEncryptionKeys } from './encryption-key.ts'
import { randomBytes } from './secrets.ts'
import { StartFailure } from './start-failure.ts'

let folder: string
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'jeton-key-'))))
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const load = (setting?: string) => readEncryptionKeys({ setting, folder })[0]

test('is created once next to the SQLite database, for its owner only, and read afterwards', () => {
  const [first] = makeEncryptionKey(randomBytes, folder) as [Buffer]
  expect(first).toHaveLength(32)
  expect(readdirSync(folder)).toEqual(['encryption.key'])
  expect(statSync(encryptionKeyFile(folder)).mode & 0o777).toBe(0o600)
  expect(load()!.equals(first)).toBe(true)
  expect(parseKey(readFileSync(encryptionKeyFile(folder), 'utf8').trim())!.equals(first)).toBe(true)
})

test('that exists is not overwritten by a process that starts at the same time', () => {
  const theirs = randomBytes(32).toString('base64')
  let drawn = 0
  // The other process creates its file after this one has found none.
  const random = (size: number) => {
    if (drawn++ === 0) writeFileSync(encryptionKeyFile(folder), `${theirs}\n`, { mode: 0o600 })
    return randomBytes(size)
  }
  const [key] = makeEncryptionKey(random, folder)
  expect(key!.toString('base64')).toBe(theirs)
  expect(readdirSync(folder)).toEqual(['encryption.key'])
})

test('is never created by reading it', () => {
  expect(load()).toBeUndefined()
  expect(readdirSync(folder)).toEqual([])
})

test('in the setting is used, and no file is created', () => {
  const key = randomBytes(32)
  expect(load(key.toString('base64'))!.equals(key)).toBe(true)
  expect(load(key.toString('base64url'))!.equals(key)).toBe(true)
  expect(readdirSync(folder)).toEqual([])
})

test('can have several values during a rotation: by commas in the setting, by lines in the file', () => {
  const keys = [randomBytes(32), randomBytes(32)]
  const texts = keys.map((key) => key.toString('base64'))
  writeFileSync(encryptionKeyFile(folder), `${texts.join('\n')}\n`)
  for (const setting of [undefined, texts.join(','), texts.join(', ')])
    expect(readEncryptionKeys({ setting, folder }).map((key) => key.toString('base64'))).toEqual(texts)
})

test('is not read from a folder with PostgreSQL, whose processes share none', () => {
  expect(readEncryptionKeys({ setting: undefined, folder: undefined })).toEqual([])
})

test.each([
  '',
  'half a key',
  `${'A'.repeat(43)}=\n\n${'B'.repeat(43)}=`,
  Buffer.alloc(31).toString('base64'),
  Buffer.alloc(33).toString('base64'),
])('in a file that contains %j stops the start, and the file stays', (text) => {
  writeFileSync(encryptionKeyFile(folder), text)
  expect(() => load()).toThrow(StartFailure)
  expect(() => load()).toThrow(/encryption\.key does not contain 32 bytes in base64/)
  expect(readFileSync(encryptionKeyFile(folder), 'utf8')).toBe(text)
})

test('in a file that cannot be read stops the start', () => {
  // A folder cannot be read as a file by anyone, including root.
  mkdirSync(encryptionKeyFile(folder))
  expect(() => load()).toThrow(/Cannot read .*EISDIR/)
})
