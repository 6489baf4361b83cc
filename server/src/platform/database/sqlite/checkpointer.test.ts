import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { Checkpointer } from './checkpointer.ts'

/** A database whose log is worth moving, and which nobody else can open until it is let go. */
function heldDatabase(): { file: string; letGo(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'jeton-checkpointer-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'jeton.db')
  const database = new DatabaseSync(file)
  database.exec('pragma journal_mode = wal; pragma wal_autocheckpoint = 0; create table things (bytes blob)')
  database.exec('insert into things values (zeroblob(5000000))')
  database.exec('pragma locking_mode = exclusive; begin exclusive; delete from things; commit')
  return { file, letGo: () => database.close() }
}

/** Without waiting for anything outside of this thread. */
const isAtOnce = (work: Promise<void>): Promise<boolean> =>
  Promise.race([work.then(() => true), new Promise<boolean>((resolve) => setImmediate(resolve, false))])

test('who writes waits for the log only when far ahead of it, and then not until all is moved', async () => {
  const { file, letGo } = heldDatabase()
  const checkpointer = new Checkpointer(file)
  const commit = (times: number) => {
    for (let i = 0; i < times; i++) checkpointer.noteCommit()
  }
  commit(31)
  expect(await isAtOnce(checkpointer.keepPace())).toBe(true)
  commit(1 + 63)
  expect(await isAtOnce(checkpointer.keepPace())).toBe(true)
  commit(1)
  expect(await isAtOnce(checkpointer.keepPace())).toBe(false)
  await checkpointer.keepPace()
  // What is under way waits for the lock for five seconds; the wait for it has ended before.
  expect(await isAtOnce(checkpointer.keepPace())).toBe(false)
  letGo()
  await checkpointer.close()
})
