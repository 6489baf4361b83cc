import { copyFileSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { Worker } from 'node:worker_threads'
import { sql } from 'kysely'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { gate, idsIn, insert, prepareThings } from '../../../../test/fixtures.ts'
import { systemClock } from '../../clock.ts'
import {
  openDatabase,
  type SqliteDatabase,
  StoreUnavailable,
  type Transaction,
  UniqueConflict,
} from '../index.ts'

// Per file, not per test: some tests run concurrently.
const cleanUps: (() => unknown)[] = []
afterAll(async () => {
  for (const cleanUp of cleanUps.reverse()) await cleanUp()
})

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'jeton-sqlite-'))
  cleanUps.push(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

async function openThings(folder = temporaryFolder()): Promise<SqliteDatabase> {
  const db = (await openDatabase(
    { clock: systemClock },
    { url: undefined, pool: 1, folder },
  )) as SqliteDatabase
  cleanUps.push(() => db.close())
  return prepareThings(db)
}

describe('SQLite', () => {
  // These three tests mostly wait, so they run concurrently.
  test.concurrent('is unavailable after a bounded wait while another process holds the write lock, and works once the lock is free', async ({
    expect,
  }) => {
    const folder = temporaryFolder()
    const db = await openThings(folder)
    const other = new DatabaseSync(join(folder, 'jeton.db'))
    other.exec('begin immediate')
    const began = performance.now()
    await expect(db.transaction((tx) => insert(tx, 'a'))).rejects.toThrow(StoreUnavailable)
    expect(performance.now() - began).toBeLessThan(25_000)
    expect(await idsIn(db)).toEqual([])
    other.exec('rollback')
    other.close()
    await db.transaction((tx) => insert(tx, 'b'))
    expect(await idsIn(db)).toEqual(['b'])
  })

  test.concurrent('every caller that waits for a lock of another process gets its error within seconds', async ({
    expect,
  }) => {
    const folder = temporaryFolder()
    const db = await openThings(folder)
    const other = new DatabaseSync(join(folder, 'jeton.db'))
    other.exec('begin immediate')
    const began = performance.now()
    const waited = Array.from({ length: 6 }, async (_, i) => {
      await expect(db.transaction((tx) => insert(tx, `a${i}`))).rejects.toThrow(StoreUnavailable)
      return performance.now() - began
    })
    waited.push(
      expect(db.runInWriter(procedure('one', `${INSERT} add.run('p', 0);`), null))
        .rejects.toThrow(StoreUnavailable)
        .then(() => performance.now() - began),
    )
    // If they waited one after the other, it would take more than half a minute.
    expect(Math.max(...(await Promise.all(waited)))).toBeLessThan(25_000)
    other.close()
    await db.transaction((tx) => insert(tx, 'b'))
    expect(await idsIn(db)).toEqual(['b'])
  })

  test.concurrent('a disk that hangs is an outage, and leaves no transaction half done', async ({
    expect,
  }) => {
    const db = await openThings()
    const hang = procedure('hang', 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, input)')
    const began = performance.now()
    const hung = db.runInWriter(hang, 18_000).catch((error) => error)
    const waited = ['a', 'b'].map((id) => db.transaction((tx) => insert(tx, id)).catch((error) => error))
    const all = await Promise.all([hung, ...waited])
    // The next one gets the mutex, but its `begin` times out too and is rolled back once the thread runs it.
    all.push(await db.transaction((tx) => insert(tx, 'c')).catch((error) => error))
    for (const error of all) expect(error).toBeInstanceOf(StoreUnavailable)
    expect(performance.now() - began).toBeGreaterThan(13_000)
    await expect.poll(() => db.transaction((tx) => insert(tx, 'd')).then(() => 'done', String)).toBe('done')
    expect(await idsIn(db)).toEqual(['d'])
  })

  test('a commit notifies the other processes that the relay reaches, and a rollback does not', async () => {
    const sent: string[] = []
    const heard: string[] = []
    let fromOthers: (topic: string) => void = () => undefined
    const notifications = {
      send: (topic: string) => sent.push(topic),
      onReceived: (hear: typeof fromOthers) => (fromOthers = hear),
    }
    const where = { url: undefined, pool: 1, folder: temporaryFolder() }
    const db = await openDatabase({ clock: systemClock, notifications }, where)
    cleanUps.push(() => db.close())
    db.subscribe('a', () => heard.push('a'))
    await db.transaction(async (tx) => {
      await tx.notify('a')
      await tx.notify('b')
      expect(sent).toEqual([])
    })
    expect([sent, heard]).toEqual([['a', 'b'], ['a']])
    const failing = db.transaction(async (tx) => {
      await tx.notify('c')
      throw new Error('no')
    })
    await expect(failing).rejects.toThrow('no')
    fromOthers('a')
    fromOthers('unknown')
    // A notification from another process is not sent back.
    expect([sent, heard]).toEqual([
      ['a', 'b'],
      ['a', 'a'],
    ])
  })

  test('shares the write lock with another process: neither starves', async () => {
    const folder = temporaryFolder()
    const [a, b] = [await openThings(folder), await openThings(folder)]
    const done = { a: 0, b: 0 }
    const keepWriting = async (db: SqliteDatabase, name: 'a' | 'b') => {
      while (Math.min(done.a, done.b) < 30) {
        await db.transaction((tx) => insert(tx, `${name}${done[name]}`))
        done[name]++
      }
    }
    await Promise.all([keepWriting(a, 'a'), keepWriting(b, 'b')])
    expect((await idsIn(a)).length).toBe(done.a + done.b)
    expect(Math.max(done.a, done.b)).toBeLessThan(10 * Math.min(done.a, done.b))
  })

  test('runs transactions one after the other, in order of arrival', async () => {
    const db = await openThings()
    const [held, goOn] = [gate(), gate()]
    const order: number[] = []
    const first = db.transaction(async () => {
      held.open()
      await goOn.opened
      order.push(0)
    })
    await held.opened
    const rest = [1, 2, 3].map((i) => db.transaction(async () => void order.push(i)))
    goOn.open()
    await Promise.all([first, ...rest])
    expect(order).toEqual([0, 1, 2, 3])
  })

  test('a commit is on the disk before it is reported: synchronous = full, with a write-ahead log', async () => {
    const folder = temporaryFolder()
    const db = await openThings(folder)
    const pragma = await db.runInWriter<string, unknown>(
      procedure('pragma', 'prepare(input).get()'),
      'pragma synchronous',
    )
    expect(pragma).toEqual({ synchronous: 2 })
    expect(readFileSync(join(folder, 'jeton.db')).subarray(18, 20)).toEqual(Buffer.from([2, 2]))
  })

  test('its file is for the owner only', async () => {
    const parent = temporaryFolder()
    const folder = join(parent, 'deep', 'data')
    await openThings(folder)
    expect(statSync(folder).mode & 0o077).toBe(0)
  })

  test('a file that is not a database is reported in one line that names the setting', async () => {
    const folder = temporaryFolder()
    writeFileSync(join(folder, 'jeton.db'), 'this is not a database, '.repeat(100))
    const opening = openDatabase({ clock: systemClock }, { url: undefined, pool: 1, folder })
    await expect(opening).rejects.toThrow(/jeton\.db.*JETON_DATA_DIR/)
  })

  test('a folder that cannot be written is reported in one line that names the setting', async () => {
    // Nobody can create a folder below a file, not even root.
    const file = join(temporaryFolder(), 'file')
    writeFileSync(file, '')
    const opening = openDatabase(
      { clock: systemClock },
      { url: undefined, pool: 1, folder: join(file, 'data') },
    )
    await expect(opening).rejects.toThrow(/Cannot write .*JETON_DATA_DIR/)
  })
})

const INSERT = `const add = prepare('insert into things (id, n) values (?, ?)');`

/** Writes a module with a writer-thread procedure. */
function procedure(name: string, body: string): URL {
  const file = join(temporaryFolder(), `${name}.mjs`)
  writeFileSync(
    file,
    `export const run = ({ prepare, unchangedSince }, input) => { ${body.includes('return') || body.includes(';') ? body : `return ${body}`} }`,
  )
  return pathToFileURL(file)
}

describe('messages to the writer thread', () => {
  /** Kinds of the requests in each message. */
  async function messagesOf(work: () => Promise<unknown>): Promise<string[]> {
    const post = vi.spyOn(Worker.prototype, 'postMessage')
    try {
      await work()
      const messages = post.mock.calls.map(([requests]) => requests as { kind: string }[])
      return messages.map((requests) => requests.map(({ kind }) => kind).join(' '))
    } finally {
      post.mockRestore()
    }
  }

  test('contain all requests of one turn, with `begin` before the first statement', async () => {
    const db = await openThings()
    const work = () =>
      db.transaction(async (tx) => {
        await Promise.all([insert(tx, 'a'), insert(tx, 'b')])
        await Promise.all([insert(tx, 'c'), insert(tx, 'd')])
      })
    expect(await messagesOf(work)).toEqual(['begin query query', 'query query', 'commit'])
    expect(await idsIn(db)).toEqual(['a', 'b', 'c', 'd'])
  })

  test('contain the commit with the last statements if it need not wait for them', async () => {
    const db = await openThings()
    const work = () =>
      db.transaction(async (tx) => {
        await insert(tx, 'a')
        tx.sendWithCommit(Promise.all([insert(tx, 'b'), insert(tx, 'c')]))
      })
    expect(await messagesOf(work)).toEqual(['begin query', 'query query commit'])
    expect(await idsIn(db)).toEqual(['a', 'b', 'c'])
  })

  test('that cannot be copied fail as a whole, and the writer continues', async () => {
    const db = await openThings()
    const uncopyable = sql`update things set n = ${Symbol('n')}`
    const work = db.transaction(async (tx) => {
      tx.sendWithCommit(Promise.all([insert(tx, 'a'), uncopyable.execute(tx.write())]))
    })
    await expect(work).rejects.toThrow('could not be cloned')
    await db.transaction((tx) => insert(tx, 'b'))
    expect(await idsIn(db)).toEqual(['b'])
  })

  test('that cannot be copied leave no transaction open, also if its rollback was among them', async () => {
    const folder = temporaryFolder()
    const db = await openThings(folder)
    const work = async (tx: Transaction) => {
      await insert(tx, 'a')
      sql`update things set n = ${Symbol('n')}`.execute(tx.write()).catch(() => undefined)
      await Promise.resolve()
      throw new Error('changed my mind')
    }
    const messages = await messagesOf(async () => {
      await expect(db.transaction(work)).rejects.toThrow('changed my mind')
      await new Promise(setImmediate)
    })
    expect(messages).toContain('query rollback')
    const other = new DatabaseSync(join(folder, 'jeton.db'), { timeout: 5_000 })
    other.exec("insert into things (id, n) values ('b', 0)")
    other.close()
    await db.runInWriter(procedure('after', `${INSERT} add.run('c', 0);`), null)
    expect(await idsIn(db)).toEqual(['b', 'c'])
  })

  test('carry the next transaction with the commit of the one before', async () => {
    const db = await openThings()
    const work = () =>
      Promise.all(
        ['a', 'b'].map((id) =>
          db.transaction(async (tx) => {
            tx.sendWithCommit(insert(tx, id))
          }),
        ),
      )
    expect(await messagesOf(work)).toEqual(['begin query commit begin query commit'])
    expect(await idsIn(db)).toEqual(['a', 'b'])
  })

  test('carry the next transaction also if the commit before it fails, which changes nothing for the next', async () => {
    const db = await openThings()
    const twice = async (id: string) =>
      db.transaction(async (tx) => {
        tx.sendWithCommit(Promise.all([insert(tx, id), insert(tx, 'same')]))
      })
    const outcomes = await Promise.allSettled(['a', 'b', 'c'].map(twice))
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected'])
    await db.transaction((tx) => insert(tx, 'd'))
    expect(await idsIn(db)).toEqual(['a', 'd', 'same'])
  })
})

describe('a query on SQLite', () => {
  test('returns the current columns of its table, even if it was prepared before they changed', async () => {
    const db = await openThings()
    await db.transaction((tx) => insert(tx, 'a'))
    const all = () => db.read<{ things: object }>().selectFrom('things').selectAll().execute()
    expect(await all()).toEqual([{ id: 'a', n: 0, bytes: null }])
    await db.transaction((tx) => sql`alter table things rename column n to m`.execute(tx.write()))
    expect(await all()).toEqual([{ id: 'a', m: 0, bytes: null }])
    await db.transaction((tx) => sql`alter table things add column more text`.execute(tx.write()))
    expect(await all()).toEqual([{ id: 'a', m: 0, bytes: null, more: null }])
  })
})

describe('the write-ahead log', () => {
  const fileAlone = (folder: string): number => {
    const copy = join(temporaryFolder(), 'jeton.db')
    copyFileSync(join(folder, 'jeton.db'), copy)
    const database = new DatabaseSync(copy)
    try {
      return (database.prepare('select count(*) as n from things').get() as { n: number }).n
    } catch {
      // The table itself has not been copied yet.
      return 0
    } finally {
      database.close()
    }
  }

  test('is copied into the file while writing continues, and not by the writer', async () => {
    const folder = temporaryFolder()
    const db = await openThings(folder)
    const add = procedure('add', `${INSERT} add.run(input + 'x'.repeat(100_000), 0);`)
    for (let i = 0; i < 100; i++) await db.runInWriter(add, `a${i}`)
    await vi.waitUntil(() => fileAlone(folder) >= 1, { timeout: 10_000 })
    await db.runInWriter(add, 'b')
    expect(await idsIn(db)).toHaveLength(101)
  })

  test('is copied by the writer itself if nobody else does, and then restarts', async () => {
    const folder = temporaryFolder()
    const db = await openThings(folder)
    const large = procedure(
      'large',
      `${INSERT} for (let i = 0; i < 2000; i++) add.run(input + 'x'.repeat(4000) + i, 0);`,
    )
    // Fewer commits than wake the checkpoint thread, each with thousands of pages.
    for (let i = 0; i < 24; i++) await db.runInWriter(large, `a${i}`)
    expect(statSync(join(folder, 'jeton.db-wal')).size).toBeLessThan(150_000_000)
    expect(fileAlone(folder)).toBeGreaterThan(20_000)
  })
})

describe('a writer-thread procedure', () => {
  test('is one transaction and returns its output', async () => {
    const db = await openThings()
    const add = procedure(
      'add',
      `${INSERT} for (const id of input.ids) add.run(id, 0); return { added: input.ids.length }`,
    )
    expect(await db.runInWriter(add, { ids: ['a', 'b'] })).toEqual({ added: 2 })
    expect(await idsIn(db)).toEqual(['a', 'b'])
  })

  test('leaves nothing behind when it throws, and the writer continues', async () => {
    const db = await openThings()
    const failing = procedure('failing', `${INSERT} add.run('a', 0); throw new Error('no')`)
    await expect(db.runInWriter(failing, {})).rejects.toThrow('no')
    await db.transaction((tx) => insert(tx, 'b'))
    expect(await idsIn(db)).toEqual(['b'])
  })

  test('throws UniqueConflict like any other write', async () => {
    const db = await openThings()
    const twice = procedure('twice', `${INSERT} add.run('a', 0); add.run('a', 0);`)
    await expect(db.runInWriter(twice, {})).rejects.toThrow(UniqueConflict)
    expect(await idsIn(db)).toEqual([])
  })

  test('waits for the current transaction', async () => {
    const db = await openThings()
    const [held, goOn] = [gate(), gate()]
    const writing = db.transaction(async (tx) => {
      held.open()
      await goOn.opened
      await insert(tx, 'first')
    })
    await held.opened
    const count = db.runInWriter<null, { n: number }>(
      procedure('count', `prepare('select count(*) as n from things').get()`),
      null,
    )
    goOn.open()
    expect(await count).toEqual({ n: 1 })
    await writing
  })

  describe('knows whether others have written since its last run', () => {
    const VERSIONS = `globalThis.versions ??= []; const seen = versions.indexOf(unchangedSince); versions.push(unchangedSince);`

    /** `isTheSame` runs the procedure and returns whether it got the object of an earlier run. */
    async function prepared() {
      const folder = temporaryFolder()
      const db = await openThings(folder)
      const mark = procedure(
        'mark',
        `${INSERT} ${VERSIONS} add.run('m' + versions.length, 0); return seen >= 0`,
      )
      const isTheSame = () => db.runInWriter<null, boolean>(mark, null)
      await isTheSame()
      expect(await isTheSame()).toBe(true)
      return { db, folder, isTheSame }
    }

    test('it gets a new object after another process has written', async () => {
      const { folder, isTheSame } = await prepared()
      const other = new DatabaseSync(join(folder, 'jeton.db'))
      other.exec(`insert into things (id, n) values ('other', 0)`)
      other.close()
      expect(await isTheSame()).toBe(false)
      expect(await isTheSame()).toBe(true)
    })

    test('it gets a new object after a transaction of the same process', async () => {
      const { db, isTheSame } = await prepared()
      await db.transaction((tx) => insert(tx, 'a'))
      expect(await isTheSame()).toBe(false)
      expect(await isTheSame()).toBe(true)
    })

    test('it gets a new object after another procedure', async () => {
      const { db, isTheSame } = await prepared()
      await db.runInWriter(procedure('another', `${INSERT} add.run('a', 0);`), null)
      expect(await isTheSame()).toBe(false)
    })

    test('it gets a new object after its own failure', async () => {
      const { db, isTheSame } = await prepared()
      await db.transaction((tx) => insert(tx, 'm4'))
      expect(await isTheSame()).toBe(false)
      await expect(isTheSame()).rejects.toThrow(UniqueConflict)
      expect(await isTheSame()).toBe(false)
    })

    test('it keeps its object after others have only read or checkpointed', async () => {
      const { db, folder, isTheSame } = await prepared()
      await idsIn(db)
      await db.runInWriter(procedure('reads', `prepare('select * from things').all()`), null)
      const other = new DatabaseSync(join(folder, 'jeton.db'))
      other.exec('select * from things; pragma wal_checkpoint(passive)')
      expect(await isTheSame()).toBe(true)
      other.close()
    })
  })

  test('whose module does not exist fails, and the writer continues', async () => {
    const db = await openThings()
    await expect(db.runInWriter(new URL('file:///nowhere.mjs'), null)).rejects.toThrow('nowhere')
    await db.transaction((tx) => insert(tx, 'a'))
  })
})
