import { hash, randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { sql } from 'kysely'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { EXCLUDED_TABLES } from '../../src/app/back-up.ts'
import { systemClock } from '../../src/platform/clock.ts'
import type { Database } from '../../src/platform/database/index.ts'
import { jeton } from '../command-line.ts'
import { readTotals, wrongCards } from '../concurrent-redemptions.ts'
import { eachEngine, type TestStore } from '../engines.ts'
import { createDemoProject, LARGE_STOCK } from '../faults/demo-project.ts'
import { Load } from '../faults/load.ts'
import { Random } from '../faults/random.ts'
import { openShop } from '../loyalty.ts'
import { newSession } from '../operators.ts'
import { OPERATOR, type Pair, startService, type TestService } from '../service.ts'
import { everythingIn } from '../timed-service.ts'

const KEY = randomBytes(32).toString('base64')

/** The same lines with the checksum that fits them. */
function signed(lines: readonly string[]): string[] {
  const before = lines.slice(0, -1)
  const sha256 = hash('sha256', before.map((line) => `${line}\n`).join(''), 'hex')
  return [...before, JSON.stringify({ ...JSON.parse(lines.at(-1)!), sha256 })]
}

eachEngine((engine) => {
  let folder: string
  let file: string

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'jeton-backup-'))
    file = join(folder, 'a.backup')
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  })

  async function serve(store: TestStore, env: Record<string, string> = {}): Promise<TestService> {
    const service = await startService(
      { JETON_ENCRYPTION_KEY: KEY, JETON_WEBHOOK_ALLOW: '127.0.0.0/8', ...store.env, ...env },
      { clock: systemClock },
    )
    onTestFinished(() => service.stop().catch(() => undefined))
    return service
  }

  const command = (store: TestStore, argv: string[], env: Record<string, string> = {}) =>
    jeton(argv, { env: { HOME: folder, ...store.env, ...env } })
  const backup = async (store: TestStore, env: Record<string, string> = {}) => {
    const ran = await command(store, ['backup', file], env)
    expect([ran.code, ran.err.includes('Error')]).toEqual([0, false])
    return ran
  }
  const restore = (store: TestStore, flags: string[] = [], env: Record<string, string> = {}) =>
    command(store, ['restore', file, ...flags], env)

  const one = async <Row>(db: Database, query: ReturnType<typeof sql<Row>>): Promise<Row> =>
    (await query.execute(db.read<never>() as never)).rows[0]!

  /** Something of everything. */
  async function fill(service: TestService) {
    const shop = await openShop(service)
    const reward = await shop.material({ price: 10, stock: 100 })
    const card = await shop.member(1_000)
    const redeem = (key: string) => shop.redeem(card.code, reward.id, {}, { 'idempotency-key': key })
    const redeemed = await redeem('first')
    await service.manage('POST', `/projects/${shop.projectId}/webhooks`, {
      target_url: 'https://hooks.example/jeton',
      events: ['customer.reward_redemptions.completed'],
    })
    await service.issue(shop.pair)
    await newSession(service.url, OPERATOR)
    await service.manage('POST', '/login-codes')
    return { shop, reward, card, redeem, redeemed }
  }

  test('a restore on either engine has the same rows as the backup', async () => {
    const store = await engine.freshStore()
    const service = await serve(store)
    await fill(service)
    await service.stop()
    const before = await everythingIn(await store.open())
    await backup(store)
    for (const target of [await engine.emptyStore(), await engine.otherEmptyStore()]) {
      const { code, out, err } = await restore(target)
      expect([code, err.includes('All tokens have stopped working')]).toEqual([0, true])
      expect(out).toMatch(/^[\d,]+ rows restored into /)
      const after = await everythingIn(await target.open())
      const kept = (tables: object) => Object.keys(tables).filter((table) => !EXCLUDED_TABLES.includes(table))
      expect(kept(after)).toEqual(kept(before))
      const mayDiffer = ['api_keys', 'audit_log', 'jeton_migrations', 'projects', ...EXCLUDED_TABLES]
      for (const [table, rows] of Object.entries(before))
        if (!mayDiffer.includes(table)) expect(after[table], table).toEqual(rows)
      const withoutChanges = (rows: string[]) =>
        rows.map((row) =>
          row.replace(/,"(credits|full_until|epoch|version|changed_at|keys_mark)":[^,}]+/g, ''),
        )
      for (const table of ['projects', 'api_keys'])
        expect(withoutChanges(after[table]!)).toEqual(withoutChanges(before[table]!))
      for (const table of ['login_codes', 'sessions', 'tokens']) {
        expect(before[table], table).not.toEqual([])
        expect(after[table], table).toEqual([])
      }
      expect(after.audit_log).toHaveLength(before.audit_log!.length + 1)
      expect(after.audit_log!.filter((row) => row.includes('store.restored'))).toHaveLength(1)
    }
  })

  test('a backup under load is one snapshot, in which points, stock, redemptions and events agree', async () => {
    const store = await engine.freshStore()
    const service = await serve(store)
    const demo = await createDemoProject(service.url)
    const load = new Load({ urls: () => [service.url], demo, random: new Random(1) })
    load.start()
    await expect.poll(() => load.ledger.acknowledged().redemptions).toBeGreaterThan(20)
    await backup(store)
    const acknowledged = load.ledger.acknowledged().redemptions
    await expect.poll(() => load.ledger.acknowledged().redemptions).toBeGreaterThan(acknowledged)
    await load.stop()
    load.close()
    expect(load.ledger.violations).toEqual([])

    const target = await engine.emptyStore()
    expect((await restore(target)).code).toBe(0)
    const db = await target.open()
    const totals = await readTotals(db, demo.largeStockReward)
    const taken = LARGE_STOCK - totals.stockLeft!
    expect(totals).toMatchObject({ redemptions: taken, events: taken, redeemed: taken })
    expect(await wrongCards(db)).toEqual([])
    const { n } = await one(
      db,
      sql<{ n: number }>`select (select count(*) from events) - (select count(*) from redemptions)
        - (select count(*) from reported_redemptions) as n`,
    )
    expect(Number(n)).toBe(0)
  })

  test('a restore reactivates no token, neither of a key that was blocked since nor one issued after the backup', async () => {
    const store = await engine.freshStore()
    const service = await serve(store)
    const project = await service.project('Club')
    const [leaked, other] = [await service.key(project.id), await service.key(project.id, { token_limit: 2 })]
    const tokenOf = async (pair: Pair) => (await service.issue(pair)).body.access_token as string
    const tokens = [await tokenOf(leaked), await tokenOf(other)]
    await backup(store)
    await service.manage('POST', `${leaked.path}/block`)
    await service.manage('POST', `${other.path}/revoke-tokens`)
    tokens.push(await tokenOf(other), await tokenOf(other))
    const epochs = () => sql<{ epoch: number; version: number }>`
      select max(epoch) as epoch, max(version) as version from api_keys`
    const lost = await one(await store.open(), epochs())
    await service.stop()

    const target = await engine.emptyStore()
    const { err } = await restore(target)
    expect(err).toContain('Keys that were blocked, deleted, regenerated or narrowed since then are not')
    const found = await one(await target.open(), epochs())
    expect(Number(found.epoch)).toBeGreaterThan(Number(lost.epoch))
    expect(Number(found.version)).toBeGreaterThan(Number(lost.version))
    const again = await serve(target)
    for (const token of tokens) expect((await again.introspect(other, token)).text).toBe('{"active":false}')
    // Limits start again and are exact.
    const issued = [await again.issue(other), await again.issue(other), await again.issue(other)]
    expect(issued.map(({ status }) => status)).toEqual([200, 200, 429])
    expect((await again.introspect(other, issued[0]!.body.access_token)).body.active).toBe(true)
  })

  test('a retry after a restore gets the first response and takes no points again', async () => {
    const store = await engine.freshStore()
    const service = await serve(store)
    const { shop, card, reward, redeemed } = await fill(service)
    await backup(store)
    await service.stop()
    const target = await engine.emptyStore()
    await restore(target)
    const again = await serve(target)
    const path = `/v1/loyalties/${shop.campaign.id}/members/${card.code}/redemption`
    const answer = await fetch(again.url + path, {
      method: 'POST',
      headers: {
        'x-app-id': shop.pair.appId,
        'x-app-token': shop.pair.appToken,
        'content-type': 'application/json',
        'idempotency-key': 'first',
      },
      body: JSON.stringify({ reward: { id: reward.id } }),
    })
    expect(await answer.text()).toBe(redeemed.text)
    expect((await readTotals(await target.open(), reward.id)).redemptions).toBe(1)
  })

  test('a restore changes a store with data only with --replace and its confirmation', async () => {
    const store = await engine.freshStore()
    const service = await serve(store)
    await fill(service)
    await backup(store)
    const later = await service.project('Made later')
    await service.stop()
    const refused = await restore(store)
    expect([refused.code, refused.out]).toEqual([1, ''])
    expect(refused.err).toMatch(/is not empty: it has .*projects.*--replace/)
    expect((await restore(store, ['--replace'])).code).toBe(2)
    const typed = await jeton(['restore', file, '--replace'], { env: store.env, answers: ['yes'] })
    expect([typed.code, typed.err.includes('Nothing was changed.')]).toEqual([1, true])
    const names = async () =>
      (
        await sql<{ id: string }>`select id from projects`.execute(
          (await store.open()).read<never>() as never,
        )
      ).rows
    expect(await names()).toContainEqual({ id: later.id })
  })

  test('restore --replace asks for confirmation and replaces the content of the store', async () => {
    const store = await engine.freshStore()
    const service = await serve(store)
    await fill(service)
    await backup(store)
    const later = await service.project('Made later')
    await service.stop()
    const { code, err } = await jeton(['restore', file, '--replace'], {
      env: store.env,
      answers: ['replace'],
    })
    expect([code, err.includes('Type "replace"')]).toEqual([0, true])
    const again = await serve(store)
    expect((await again.manage('GET', `/projects/${later.id}`)).status).toBe(404)
    expect((await again.manage('GET', '/projects')).body.total).toBe(1)
  })

  test('a restore into a store in use is refused', async () => {
    const store = await engine.freshStore()
    const service = await serve(store)
    await fill(service)
    await backup(store)
    const { code, err } = await restore(store, ['--replace', '--yes'])
    expect([code, err]).toEqual([75, expect.stringMatching(/in use by a running Jeton/)])
    expect((await service.manage('GET', '/projects')).body.total).toBe(1)
  })

  test('a restore refuses a truncated, damaged, foreign or newer file in one line and changes nothing', async () => {
    const store = await engine.freshStore()
    const service = await serve(store)
    await fill(service)
    await backup(store)
    await service.stop()
    const whole = readFileSync(file)
    const lines = gunzipSync(whole).toString().trim().split('\n')
    const packed = (some: readonly string[]) => gzipSync(`${some.join('\n')}\n`)
    const flipped = Buffer.from(whole)
    flipped[Math.floor(whole.length / 2)]! ^= 0x10
    const row = lines.findIndex((line) => line.startsWith('['))
    const cases: Record<string, [Buffer, RegExp]> = {
      'cut off': [whole.subarray(0, whole.length - 40), /truncated|damaged/],
      'cut in half': [whole.subarray(0, whole.length / 2), /truncated|damaged/],
      'a bit flipped': [flipped, /damaged/],
      'a row changed': [
        packed(lines.map((line, i) => (i === row ? line.replace('"', '"x') : line))),
        /checksum/,
      ],
      'a row missing': [packed(lines.toSpliced(row, 1)), /checksum/],
      'without its end': [packed(lines.slice(0, -1)), /truncated/],
      'rows after its end': [packed([...lines, lines[row]!]), /after its last line/],
      'of a later format': [packed([lines[0]!.replace('"jeton_backup":1', '"jeton_backup":2')]), /format 2/],
      'of a later schema': [
        packed(
          signed([lines[0]!.replace('"migrations":[', '"migrations":["9999-later",'), ...lines.slice(1)]),
        ),
        /or newer; this is/,
      ],
      'with a table that was never there': [
        packed(signed([lines[0]!, '{"table":"pg_authid","columns":[]}', ...lines.slice(1)])),
        /no table "pg_authid"/,
      ],
      'with other columns': [
        packed(
          signed(
            lines.map((line) =>
              line.replace('{"name":"name","type":"text"}', '{"name":"nam\\" e","type":"text"}'),
            ),
          ),
        ),
        /with these columns/,
      ],
      'not of Jeton': [packed(['{"hello":1}']), /not a Jeton backup/],
      'not even compressed': [Buffer.from('hello'), /damaged or not a Jeton backup/],
      empty: [Buffer.alloc(0), /truncated|empty|damaged/],
    }
    const target = await engine.emptyStore()
    for (const [name, [bytes, says]] of Object.entries(cases)) {
      writeFileSync(file, bytes)
      const { code, out, err } = await restore(target)
      expect([code, out], name).toEqual([1, ''])
      expect(err, name).toMatch(says)
      expect(err.trim().split('\n'), name).toHaveLength(1)
      const db = await target.open()
      expect(Object.keys(await everythingIn(db)), name).toEqual([])
      await db.close()
    }
    rmSync(file)
    expect((await restore(target)).err).toContain('File not found')
  })

  test('a backup is readable by its owner only, overwrites no file, and leaves none if it fails', async () => {
    const store = await engine.freshStore()
    const service = await serve(store)
    await fill(service)
    const { out, err } = await backup(store)
    expect(out).toBe(`${file}\n`)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(err).toMatch(/^projects: 1 row\n/m)
    expect(err).toContain('It contains no tokens')
    expect(err).toMatch(/encryption key [0-9a-f]{8}, which is not in the backup/)
    // No secret and no digest of a token: what is in it is what the store holds, and no more.
    expect(gunzipSync(readFileSync(file)).toString()).not.toMatch(/jt[anm]_[A-Za-z0-9]{20}|whsec_/)
    const before = readFileSync(file)
    const again = await command(store, ['backup', file])
    expect([again.code, again.err.includes('already exists')]).toEqual([1, true])
    expect(readFileSync(file).equals(before)).toBe(true)
    const nowhere = await command(store, ['backup', join(folder, 'missing', 'a.backup')])
    expect([
      nowhere.code,
      nowhere.err.includes(`No such directory: ${join(folder, 'missing')}. No file was written.`),
    ]).toEqual([78, true])
    expect(existsSync(`${file}.part`)).toBe(false)
  })

  test('restored webhook secrets work with their key, and a restore with another key names the required one', async () => {
    const store = await engine.freshStore()
    const service = await serve(store)
    const { shop } = await fill(service)
    await backup(store, { JETON_ENCRYPTION_KEY: KEY })
    await service.stop()
    const right = await restore(await engine.emptyStore(), [], { JETON_ENCRYPTION_KEY: KEY })
    expect(right.err).not.toContain('encryption key')
    const target = await engine.otherEmptyStore()
    const wrong = await restore(target, [], { JETON_ENCRYPTION_KEY: randomBytes(32).toString('base64') })
    expect(wrong.code).toBe(0)
    expect(wrong.err).toMatch(/require the encryption key [0-9a-f]{8}; the current key is [0-9a-f]{8}\./)
    const again = await serve(target)
    const { body } = await again.manage('GET', `/projects/${shop.projectId}/webhooks`)
    const rotated = await again.manage(
      'POST',
      `/projects/${shop.projectId}/webhooks/${body.data[0].id}/rotate-secret`,
    )
    expect(rotated.status).toBe(200)
  })

  test('a backup of a missing or foreign store is refused', async () => {
    const { code, err } = await command(await engine.emptyStore(), ['backup', file])
    expect([code, err]).toEqual([78, expect.stringMatching(/There is no store|is not a Jeton store/)])
    expect(existsSync(file)).toBe(false)
  })
})
