import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { filledTables, readTable, tablesOf } from '../../src/app/backup-tables.store.ts'
import { MIGRATIONS } from '../../src/app/migrations/index.ts'
import type { Database } from '../../src/platform/database/index.ts'
import { makeHome, serveBinary } from '../binary.ts'
import { wrongCards } from '../concurrent-redemptions.ts'
import { eachEngine } from '../engines.ts'
import { Random } from '../faults/random.ts'
import { report } from '../faults/report.ts'
import { FUZZ_REQUESTS, LONG, SEED } from '../faults/run-settings.ts'
import { clientOf, OPERATOR, send } from '../service.ts'
import { everythingIn } from '../timed-service.ts'
import { exactly, judge } from './judge.ts'
import { openPlayground } from './playground.ts'
import { makeCase } from './requests.ts'
import { ROUTES } from './routes.ts'
import { Wire } from './wire.ts'

const CONNECTIONS = 8
/** Longer than all timeouts of the service. */
const TIMEOUT_MS = 40_000
const FRESH_TOKEN_EVERY = 400
/** Memory rises and falls with garbage collection: the minima of the last two thirds of a run are compared. */
const MAX_GROWTH_BYTES = 80 * 1024 * 1024
const MAX_FAULTS_SHOWN = 5

test('the fuzzer knows every route', () => {
  expect(ROUTES.length).toBeGreaterThan(100)
  expect(ROUTES.every(({ path }) => path.startsWith('/'))).toBe(true)
})

eachEngine((engine) => {
  test(
    'hostile requests to any route cause no 5xx except 503, no hang, no leak and no access',
    async () => {
      const store = await engine.freshStore()
      const home = makeHome()
      onTestFinished(home.remove)
      const running = await serveBinary({
        home: home.folder,
        env: {
          ...store.env,
          JETON_MANAGEMENT_ID: OPERATOR.id,
          JETON_MANAGEMENT_TOKEN: OPERATOR.token,
          JETON_SAMPLE: 'off',
          JETON_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
        },
      })
      onTestFinished(async () => void (await running.stop('SIGKILL')))
      const client = clientOf(running.url)
      const random = new Random(SEED)
      const ground = await openPlayground(client, random)
      const db = await store.open()
      const isFannedOut = async () =>
        !(await rowsAbout(db, ground.victimId)).some((row) => row.includes('"free_at":'))
      // The fan-out changes rows of the other project.
      await expect.poll(isFannedOut).toBe(true)
      const before = await rowsAbout(db, ground.victimId)

      const faults: string[] = []
      const memory: number[] = []
      let [sent, answers, slowestMs] = [0, 0, 0]
      async function converse(): Promise<void> {
        const wire = new Wire(running.url)
        while (sent < FUZZ_REQUESTS && faults.length < MAX_FAULTS_SHOWN) {
          const number = ++sent
          if (number % FRESH_TOKEN_EVERY === 0) await ground.freshToken()
          if (number % Math.ceil(FUZZ_REQUESTS / 30) === 0) memory.push(await residentBytes(running.url))
          const one = makeCase(ground.stock)
          if (one.vanish) {
            await wire.sayAndVanish(one.bytes)
            continue
          }
          const heard = await wire.say(one.bytes, {
            answers: one.answers ?? 1,
            heads: one.isHead === true,
            finish: one.finish === true,
            timeoutMs: TIMEOUT_MS,
          })
          answers += heard.answers.length
          slowestMs = Math.max(slowestMs, Math.round(heard.ms))
          for (const answer of heard.answers) ground.learn(answer.body)
          for (const fault of judge(one, heard, ground.forbidden)) faults.push(`${fault}\n  ${exactly(one)}`)
        }
        wire.drop()
      }
      await Promise.all(Array.from({ length: CONNECTIONS }, converse))

      const after = await rowsAbout(db, ground.victimId)
      const third = Math.floor(memory.length / 3)
      const lowest = [memory.slice(third, 2 * third), memory.slice(2 * third)].map((some) =>
        Math.min(...some),
      )
      const mb = (bytes: number) => `${Math.round(bytes / 1024 / 1024)}`
      report('fuzz', {
        what: `seed ${SEED}`,
        engine: engine.name,
        requests: sent,
        answers,
        slowestMs,
        memory: `${lowest.map(mb).join(' → ')} MB`,
        found: faults.length,
      })
      expect(faults.join('\n'), running.stderr().slice(-2_000)).toBe('')
      expect(running.child.exitCode, 'the process goes on').toBe(null)
      const bugs = running
        .stdout()
        .split('\n')
        .filter((line) => line.includes('"msg":"bug"'))
      expect(bugs.slice(0, MAX_FAULTS_SHOWN)).toEqual([])
      expect(after).toEqual(before)
      expect((await send(`${running.url}/health/ready`)).status).toBe(200)
      expect((await client.issue(ground.victimPair)).status).toBe(200)
      expect(await wrongCards(db)).toEqual([])
      await expectSoundStore(db)
      if (LONG) expect(lowest[1]! - lowest[0]!).toBeLessThan(MAX_GROWTH_BYTES)
    },
    LONG ? 60 * 60_000 : 180_000,
  )
})

async function residentBytes(url: string): Promise<number> {
  const { text } = await send(`${url}/metrics`)
  return Number(/^process_resident_memory_bytes (\d+)/m.exec(text)?.[1] ?? 0)
}

/** Every row of the project, without refusals, usage and columns that background jobs change. */
async function rowsAbout(db: Database, projectId: string): Promise<string[]> {
  const { refusals: _, usage_series: __, ...tables } = await everythingIn(db)
  return Object.values(tables)
    .flat()
    .filter((row) => row.includes(projectId))
    .map((row) => row.replace(/"skips":"(?:[^"\\]|\\.)*"/, ''))
    .sort()
}

async function expectSoundStore(db: Database): Promise<void> {
  if (db.engine === 'sqlite') {
    const { rows } = await sql<{ integrity_check: string }>`pragma integrity_check`.execute(
      db.read<never>() as never,
    )
    expect(rows).toEqual([{ integrity_check: 'ok' }])
  }
  const tables = await tablesOf(MIGRATIONS)
  // Two tables exist on SQLite only.
  const filled = await filledTables(db, tables)
  for (const table of tables.filter(({ name }) => filled.includes(name))) {
    const texts = table.columns.flatMap(({ type }, i) => (type === 'text' ? [i] : []))
    for await (const page of readTable(db, table, 500))
      for (const row of page)
        for (const text of texts.map((i) => (row[i] as string | null) ?? '')) {
          const at = `${table.name}: ${text.slice(0, 300)}`
          expect(text.includes('\0') || !text.isWellFormed(), at).toBe(false)
          expect(/"__proto__"\s*:/.test(text), at).toBe(false)
        }
  }
}
