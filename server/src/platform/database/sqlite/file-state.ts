import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { encryptionKeyFile } from '../../encryption-key.ts'

export const sqliteFile = (folder: string): string => join(folder, 'jeton.db')

const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0

/**
 * What is in the place of the embedded database. `empty` is a file of 0 bytes that may become a store; `emptied` is one
 * that was a store before, since its write-ahead log or its encryption key is still there. SQLite itself takes both for a
 * new database, and deletes the log.
 */
export function sqliteFileState(folder: string): 'none' | 'empty' | 'emptied' | 'filled' {
  const file = sqliteFile(folder)
  if (!existsSync(file)) return 'none'
  if (sizeOf(file) > 0) return 'filled'
  return sizeOf(`${file}-wal`) > 0 || existsSync(encryptionKeyFile(folder)) ? 'emptied' : 'empty'
}
