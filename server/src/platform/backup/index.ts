/**
 * The backup file format: compressed lines of JSON with a checksum at the end. It does not depend on the store, and holds
 * at most one line in memory.
 */

export type { BackupHead, BackupRow, BackupTable, BackupTail } from './format.ts'
export { type BackupFile, BackupUnreadable, readBackup } from './read-backup.ts'
export { createBackup, type NewBackup } from './write-backup.ts'
