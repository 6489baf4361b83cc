/**
 * The file of a backup: lines of JSON, compressed, with a checksum at the end. It knows neither the store nor what the
 * tables mean, and never holds more than a line in memory.
 */

export type { BackupHead, BackupRow, BackupTable, BackupTail } from './format.ts'
export { type BackupFile, BackupUnreadable, readBackup } from './read-backup.ts'
export { createBackup, type NewBackup } from './write-backup.ts'
