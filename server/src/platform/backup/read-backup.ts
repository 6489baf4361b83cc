import { createHash, type Hash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { createGunzip } from 'node:zlib'
import { Check } from 'typebox/value'
import {
  BackupHead,
  type BackupRow,
  BackupTable,
  type BackupTail,
  decodeRow,
  EndLine,
  FORMAT,
} from './format.ts'

/** Explains in one line why a file cannot be restored. */
export class BackupUnreadable extends Error {
  override readonly name = 'BackupUnreadable'
}

export interface BackupFile {
  readonly head: BackupHead
  /** Number of rows per table. */
  readonly tables: ReadonlyMap<string, number>
  readonly shapes: readonly BackupTable[]
  readonly tail: BackupTail
}

/** Longer than any row: request bodies are limited to 1 MB, and a row holds a few of them. */
const MAX_LINE_BYTES = 64 * 1024 * 1024

const broken = (what: string): BackupUnreadable =>
  new BackupUnreadable(`${what} Nothing was changed. Use another copy of the backup.`)

async function* linesOf(file: string): AsyncGenerator<Buffer> {
  const input = createReadStream(file)
  const gunzip = createGunzip()
  input.on('error', (error) => gunzip.destroy(error))
  let rest: Buffer[] = []
  let length = 0
  for await (const chunk of input.pipe(gunzip) as AsyncIterable<Buffer>) {
    let start = 0
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
      yield Buffer.concat([...rest, chunk.subarray(start, end)])
      rest = []
      length = 0
      start = end + 1
    }
    rest.push(chunk.subarray(start))
    length += chunk.length - start
    if (length > MAX_LINE_BYTES) throw broken('The file has a line that is too long.')
  }
  if (length > 0) throw broken('The file ends in the middle of a line.')
}

/** Translates errors of the system and of zlib. */
function explained(error: unknown, file: string): unknown {
  const { code } = error as NodeJS.ErrnoException
  if (code === 'ENOENT') return new BackupUnreadable(`File not found: ${file}.`)
  if (code === 'EACCES' || code === 'EISDIR') return new BackupUnreadable(`${file} cannot be read (${code}).`)
  if (code === 'Z_BUF_ERROR') return broken(`${file} is truncated.`)
  // The code of an aborted signal is a number.
  if (String(code).startsWith('Z_')) return broken(`${file} is damaged or not a Jeton backup.`)
  if (error instanceof SyntaxError) return broken(`${file} is damaged: a line is not JSON.`)
  return error
}

function readHead(line: Buffer): BackupHead {
  const head = JSON.parse(line.toString()) as Partial<BackupHead> | null
  if (typeof head?.jeton_backup !== 'number') throw broken('The file is not a Jeton backup.')
  if (head.jeton_backup !== FORMAT)
    throw new BackupUnreadable(
      `The backup has format ${head.jeton_backup}, written by Jeton ${head.program}; this version reads ${FORMAT}. Restore it with that version.`,
    )
  if (!Check(BackupHead, head)) throw broken('The file is damaged: its first line is invalid.')
  return head
}

function readEnd(line: EndLine, { hash, rows }: { hash: Hash; rows: number }): BackupTail {
  if (line.sha256 !== hash.digest('hex')) throw broken('The file is damaged: its checksum does not match.')
  if (line.end.rows !== rows) throw broken('The file is damaged: rows are missing.')
  return line.end
}

/**
 * Reads a file to its end and passes on its rows. The file is known to be complete only when this returns, so the caller
 * must be able to discard the rows until then.
 */
export async function readBackup(
  file: string,
  onRow: (table: BackupTable, row: BackupRow) => Promise<void> | undefined = () => undefined,
): Promise<BackupFile> {
  try {
    return await readLines(file, onRow)
  } catch (error) {
    throw explained(error, file)
  }
}

async function readLines(
  file: string,
  onRow: (table: BackupTable, row: BackupRow) => Promise<void> | undefined,
): Promise<BackupFile> {
  const hash = createHash('sha256')
  const tables = new Map<string, number>()
  const shapes: BackupTable[] = []
  let head: BackupHead | undefined
  let table: BackupTable | undefined
  let tail: BackupTail | undefined
  let rows = 0
  for await (const line of linesOf(file)) {
    if (tail) throw broken('The file continues after its last line.')
    const value = head ? JSON.parse(line.toString()) : undefined
    if (!head) head = readHead(line)
    else if (Array.isArray(value)) {
      const row = table && decodeRow(value, table.columns)
      if (!row) throw broken('The file is damaged: a row does not match its table.')
      rows++
      tables.set(table!.table, tables.get(table!.table)! + 1)
      const kept = onRow(table!, row)
      if (kept) await kept
    } else if (Check(EndLine, value)) {
      tail = readEnd(value, { hash, rows })
    } else if (Check(BackupTable, value)) {
      table = value
      tables.set(table.table, 0)
      shapes.push(table)
    } else throw broken('The file is damaged: a line is invalid.')
    if (!tail) hash.update(line).update('\n')
  }
  if (!head) throw broken('The file is empty.')
  if (!tail) throw broken('The file is truncated.')
  return { head, tables, shapes, tail }
}
