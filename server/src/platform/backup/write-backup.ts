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
  /** Writes the checksum, syncs the file to disk, and then renames it. */
  finish(): Promise<{ rows: number; bytes: number; encryptionKeys: readonly string[] }>
  /** Deletes the unfinished file. */
  abandon(): Promise<void>
}

/** Matches values that `encryption.ts` has encrypted, also inside of other text. */
const ENCRYPTED = /\bv1\.([0-9a-f]{8})\.[A-Za-z0-9_-]{38,}/g

/** Creates a backup atomically: writes to a temporary file that only the owner can read, and never overwrites a file. */
export async function createBackup(file: string): Promise<NewBackup> {
  const draft = `${file}.part`
  const output: WriteStream = createWriteStream(draft, { flags: 'wx', mode: 0o600 })
  await once(output, 'open')
  const gzip = createGzip()
  const written = finished(gzip.pipe(output))
  // The caller awaits it later. Until then the rejection must not count as unhandled.
  written.catch(() => undefined)
  const hash = createHash('sha256')
  const keys = new Set<string>()
  let count = 0

  async function line(text: string): Promise<void> {
    const bytes = `${text}\n`
    hash.update(bytes)
    // If the disk is full the output ends, and `drain` would never come.
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
      await renameExclusively(draft, file)
      return { rows: count, bytes: output.bytesWritten, encryptionKeys }
    },
    async abandon() {
      output.destroy()
      gzip.destroy()
      await rm(draft, { force: true })
    },
  }
}

/** Renames without overwriting another file, as far as the file system allows. */
async function renameExclusively(draft: string, file: string): Promise<void> {
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
