import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createWriteStream, type WriteStream } from 'node:fs'
import { link, open, rename, rm } from 'node:fs/promises'
import { finished } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { type BackupHead, type BackupRow, type BackupTable, type EndLine, encodeRow } from './format.ts'

export interface NewBackup {
  head(head: BackupHead): Promise<void>
  table(table: BackupTable): Promise<void>
  rows(rows: readonly BackupRow[]): Promise<void>
  /** Writes the checksum, waits for the disk, and only then gives the file its name. */
  finish(): Promise<{ rows: number; bytes: number; encryptionKeys: readonly string[] }>
  /** Leaves nothing behind. */
  abandon(): Promise<void>
}

/** As `encryption.ts` writes what it has encrypted, also inside of other text. */
const ENCRYPTED = /\bv1\.([0-9a-f]{8})\.[A-Za-z0-9_-]{38,}/g

/**
 * Makes a file that is whole or not there: it is written beside its name, for the owner's eyes only, and never over another.
 */
export async function createBackup(file: string): Promise<NewBackup> {
  const draft = `${file}.part`
  const output: WriteStream = createWriteStream(draft, { flags: 'wx', mode: 0o600 })
  await once(output, 'open')
  const gzip = createGzip()
  const written = finished(gzip.pipe(output))
  // Whoever waits for it is told; until then it must not count as unhandled.
  written.catch(() => undefined)
  const hash = createHash('sha256')
  const keys = new Set<string>()
  let count = 0

  async function line(text: string): Promise<void> {
    const bytes = `${text}\n`
    hash.update(bytes)
    // A disk that is full ends the output, and nothing would ever drain.
    if (!gzip.write(bytes)) await Promise.race([once(gzip, 'drain'), written])
  }

  function note(row: BackupRow): void {
    for (const value of row)
      if (typeof value === 'string' && value.includes('v1.'))
        for (const [, key] of value.matchAll(ENCRYPTED)) keys.add(key!)
  }

  return {
    head: (head) => line(JSON.stringify(head)),
    table: (table) => line(JSON.stringify(table)),
    async rows(rows) {
      for (const row of rows) {
        count++
        note(row)
        await line(encodeRow(row))
      }
    },
    async finish() {
      const encryptionKeys = [...keys].sort()
      const end: EndLine = {
        end: { rows: count, encryption_keys: encryptionKeys },
        sha256: hash.digest('hex'),
      }
      gzip.end(`${JSON.stringify(end)}\n`)
      await written
      await toDisk(draft)
      await place(draft, file)
      return { rows: count, bytes: output.bytesWritten, encryptionKeys }
    },
    async abandon() {
      output.destroy()
      gzip.destroy()
      await rm(draft, { force: true })
    },
  }
}

/** Never over another file; where the file system knows no links, as well as can be. */
async function place(draft: string, file: string): Promise<void> {
  try {
    await link(draft, file)
    await rm(draft)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw error
    await rename(draft, file)
  }
}

async function toDisk(file: string): Promise<void> {
  const handle = await open(file, 'r+')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
