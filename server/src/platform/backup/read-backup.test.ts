import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { afterAll, describe, expect, test } from 'vitest'
import { type BackupFile, BackupUnreadable, createBackup, readBackup } from './index.ts'

const dir = mkdtempSync(join(tmpdir(), 'jeton-backup-'))
afterAll(() => rmSync(dir, { recursive: true }))
const file = join(dir, 'some.backup')

const backup = await createBackup(join(dir, 'whole.backup'))
await backup.head({ jeton_backup: 1, program: '1.0.0', taken_at: 'now', store: 'here', migrations: ['0001'] })
await backup.table({
  table: 'things',
  columns: [
    { name: 'id', type: 'text' },
    { name: 'at', type: 'bigint' },
    { name: 'hash', type: 'bytes' },
  ],
})
await backup.rows([
  ['thing_1', 17, Buffer.from('abc')],
  ['thing_2', null, null],
])
await backup.finish()
const compressed = readFileSync(join(dir, 'whole.backup'))
const bytes = gunzipSync(compressed)

async function read(content: Uint8Array): Promise<BackupFile | 'refused'> {
  writeFileSync(file, content)
  try {
    return await readBackup(file)
  } catch (error) {
    if (error instanceof BackupUnreadable && !error.message.includes('\n')) return 'refused'
    throw error
  }
}

function* flips(of: Uint8Array): Generator<Buffer> {
  for (let bit = 0; bit < of.length * 8; bit++) {
    const flipped = Buffer.from(of)
    flipped[bit >> 3]! ^= 1 << (bit & 7)
    yield flipped
  }
}

describe('a file with one wrong bit', () => {
  test('is rejected or read correctly, for every bit', async () => {
    const whole = await readBackup(join(dir, 'whole.backup'))
    // gzip stores a file name and time that it ignores when reading.
    for (const flipped of flips(compressed)) expect(['refused', whole]).toContainEqual(await read(flipped))
  })

  test('is rejected in one line even if it was compressed again', async () => {
    for (const flipped of flips(bytes.subarray(0, bytes.lastIndexOf('"encryption_keys"')))) {
      const rest = bytes.subarray(flipped.length)
      expect(await read(gzipSync(Buffer.concat([flipped, rest]), { level: 1 }))).toBe('refused')
    }
  })
})

test.each([
  'null',
  '1',
  '"end"',
  '{}',
  '{"end":null}',
  '{"end":{"rows":2}}',
  '{"table":"things"}',
  '{"table":1,"columns":[]}',
  '{"table":"things","columns":null}',
  '{"table":"things","columns":[null]}',
  '{"table":"things","columns":[{"name":"id","type":"constructor"}]}',
])('a line %s is rejected', async (line) => {
  const lines = bytes.toString().split('\n')
  expect(await read(gzipSync(lines.toSpliced(1, 0, line).join('\n')))).toBe('refused')
})

test.each(['null', '[]', '{"jeton_backup":1}', '{"jeton_backup":"1"}'])(
  'a first line %s is rejected',
  async (line) => {
    const lines = bytes.toString().split('\n')
    expect(await read(gzipSync(lines.with(0, line).join('\n')))).toBe('refused')
  },
)
