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

/** Why a file cannot be restored, in one line. */
export class BackupUnreadable extends Error {
  override readonly name = 'BackupUnreadable'
}

export interface BackupFile {
  readonly head: BackupHead
  /** How many rows each table has. */
  readonly tables: ReadonlyMap<string, number>
  readonly shapes: readonly BackupTable[]
  readonly tail: BackupTail
}

/** Longer than any row: bodies of requests end at 1 MB, and a row holds a few of them. */
const LINE_MOST = 64 * 1024 * 1024

const broken = (what: string): BackupUnreadable =>
  new BackupUnreadable(`${what} Nothing was changed. Use another copy of it.`)

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
    if (length > LINE_MOST) throw broken('It has a line that no backup has.')
  }
  if (length > 0) throw broken('It ends in the middle of a line.')
}

/** The system's and zlib's own errors, in our words. */
function explained(error: unknown, file: string): unknown {
  const { code } = error as NodeJS.ErrnoException
  if (code === 'ENOENT') return new BackupUnreadable(`There is no file ${file}.`)
  if (code === 'EACCES' || code === 'EISDIR') return new BackupUnreadable(`${file} cannot be read (${code}).`)
  if (code === 'Z_BUF_ERROR') return broken(`${file} was cut off: its end is missing.`)
  if (code?.startsWith('Z_')) return broken(`${file} is damaged, or no backup of Jeton.`)
  if (error instanceof SyntaxError) return broken(`${file} is damaged: a line is not JSON.`)
  return error
}

function readHead(line: Buffer): BackupHead {
  const head = JSON.parse(line.toString()) as Partial<BackupHead> | null
  if (typeof head?.jeton_backup !== 'number') throw broken('It is no backup of Jeton.')
  if (head.jeton_backup !== FORMAT)
    throw new BackupUnreadable(
      `It has the format ${head.jeton_backup}, made by Jeton ${head.program}; this version reads ${FORMAT}. Restore it with that version.`,
    )
  if (!Check(BackupHead, head)) throw broken('It is damaged: its first line does not fit.')
  return head
}

function readEnd(line: EndLine, { hash, rows }: { hash: Hash; rows: number }): BackupTail {
  if (line.sha256 !== hash.digest('hex')) throw broken('It is damaged: its checksum does not fit.')
  if (line.end.rows !== rows) throw broken('It is damaged: rows are missing.')
  return line.end
}

/**
 * Reads a file to its end and hands its rows out on the way. Only when it returns is the file known to be whole, so whoever
 * keeps rows must be able to give them up until then.
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
    if (tail) throw broken('It goes on after its end.')
    const value = head ? JSON.parse(line.toString()) : undefined
    if (!head) head = readHead(line)
    else if (Array.isArray(value)) {
      const row = table && decodeRow(value, table.columns)
      if (!row) throw broken('It is damaged: a row does not fit its table.')
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
    } else throw broken('It is damaged: a line is none of a backup.')
    if (!tail) hash.update(line).update('\n')
  }
  if (!head) throw broken('It is empty.')
  if (!tail) throw broken('It was cut off: its end is missing.')
  return { head, tables, shapes, tail }
}
