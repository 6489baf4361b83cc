import { rmSync, writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { createCampaign } from '../../src/features/campaigns/index.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { createVault, keyIdIn, keyIdOf } from '../../src/platform/encryption.ts'
import { encryptionKeyFile } from '../../src/platform/encryption-key.ts'
import { randomBytes } from '../../src/platform/secrets.ts'
import { jeton } from '../command-line.ts'
import { eachEngine, type TestStore } from '../engines.ts'
import { startService } from '../service.ts'
import { everythingIn } from '../timed-service.ts'

const [OLD, NEW] = [1, 2].map((byte) => Buffer.alloc(32, byte))
const HEADERS = { authorization: 'Bearer of-the-receiver', 'x-tenant': 'tenant-seven' }
const text = (...keys: Buffer[]): string => keys.map((key) => key.toString('base64')).join(',')

eachEngine((engine) => {
  const serve = (store: TestStore, ...keys: Buffer[]) =>
    startService({ ...store.env, JETON_ENCRYPTION_KEY: text(...keys) }, { clock: systemClock, worker: false })
  const rotate = (store: TestStore, keys: readonly Buffer[], ...options: string[]) =>
    jeton(['rotate-encryption-key', ...options], {
      env: { ...store.env, ...(keys.length > 0 && { JETON_ENCRYPTION_KEY: text(...keys) }) },
    })

  /** A webhook in the middle of a rotation and a distribution with a header: five values in all. */
  async function fill(store: TestStore) {
    const service = await serve(store, OLD!)
    const { id } = await service.project('Club')
    const voucher = { type: 'LOYALTY_CARD' as const, loyalty_card: { points: 0 } }
    const campaign = await service.service.db.transaction((tx) =>
      createCampaign({ random: randomBytes }, tx, {
        projectId: id,
        fields: { name: 'Club', campaign_type: 'LOYALTY_PROGRAM', voucher },
      }),
    )
    const path = `/projects/${id}`
    const target_url = 'https://hooks.example.com/jeton'
    const events = ['customer.reward_redemptions.completed']
    const webhook = (await service.manage('POST', `${path}/webhooks`, { target_url, events })).body
    const rotated = await service.manage('POST', `${path}/webhooks/${webhook.id}/rotate-secret`)
    const distribution = await service.manage('POST', `${path}/distributions`, {
      name: 'Told',
      campaign_id: campaign.id,
      headers: HEADERS,
      target_url,
    })
    expect([rotated.status, distribution.status]).toEqual([200, 201])
    await service.stop()
    return { path, webhook, rotated: rotated.body, distribution: distribution.body }
  }

  interface Stored {
    readonly place: string
    readonly sealed: string
  }

  async function storedIn(store: TestStore): Promise<Stored[]> {
    const db = await store.open()
    const rows = (await everythingIn(db)).destinations!.map((row) => JSON.parse(row))
    await db.close()
    return rows.flatMap((row) => {
      const place = `destinations/${row.project_id}/${row.id}`
      const secrets = [row.secret, row.previous_secret].filter((secret) => secret !== null)
      const headers = Object.entries(JSON.parse(row.headers) as Record<string, string>)
      return [
        ...secrets.map((sealed) => ({ place: `${place}/secret`, sealed })),
        ...headers.map(([name, sealed]) => ({ place: `${place}/headers/${name}`, sealed })),
      ]
    })
  }
  const keyIdsIn = async (store: TestStore) => (await storedIn(store)).map(({ sealed }) => keyIdIn(sealed))
  const openedIn = async (store: TestStore, key: Buffer) => {
    const vault = createVault(key, randomBytes)
    return (await storedIn(store)).map(({ sealed, place }) => vault.open(sealed, place)).sort()
  }

  describe('replacing the encryption key', () => {
    test('after a key rotation the old key is no longer required, and every secret is unchanged', async () => {
      const store = await engine.freshStore()
      const { webhook, rotated, distribution } = await fill(store)
      const secrets = [webhook, rotated, distribution].map(({ secret }) => secret as string)
      const values = [...secrets, ...Object.values(HEADERS)].sort()
      expect(await openedIn(store, OLD!)).toEqual(values)
      expect(await keyIdsIn(store)).toEqual(Array(5).fill(keyIdOf(OLD!)))

      const planned = await rotate(store, [NEW!, OLD!], '--plan')
      expect(planned).toMatchObject({
        code: 0,
        out: expect.stringContaining('0 already encrypted with it, 5 to be re-encrypted'),
      })
      expect(await keyIdsIn(store)).toEqual(Array(5).fill(keyIdOf(OLD!)))

      const done = await rotate(store, [NEW!, OLD!])
      expect(done).toMatchObject({ code: 0, out: expect.stringContaining('5 re-encrypted') })
      expect(done.err).toContain('Remove them and restart every process')
      expect(await keyIdsIn(store)).toEqual(Array(5).fill(keyIdOf(NEW!)))
      for (const secret of [...values, text(OLD!), text(NEW!)])
        expect(done.out + done.err).not.toContain(secret)

      expect(JSON.parse((await rotate(store, [NEW!], '--json')).out)).toEqual({
        key_id: keyIdOf(NEW!),
        planned: false,
        present: 5,
        changed: 0,
        failed: [],
      })
      expect(await openedIn(store, NEW!)).toEqual(values)
    })

    test('a key rotation is in the audit log for each destination, without a secret', async () => {
      const store = await engine.freshStore()
      const { path, webhook, distribution } = await fill(store)
      await rotate(store, [NEW!, OLD!])
      const service = await serve(store, NEW!)
      const { body, text: all } = await service.manage('GET', `${path}/audit-log?limit=2`)
      expect(body.data.map((entry: { action: string }) => entry.action).sort()).toEqual([
        'distribution.reencrypted',
        'webhook.reencrypted',
      ])
      for (const secret of [webhook.secret, distribution.secret, 'of-the-receiver'])
        expect(all).not.toContain(secret)
      await service.stop()
    })

    test('a key rotation without a required key names it, changes no affected secret, and ends with 1', async () => {
      const store = await engine.freshStore()
      const { webhook } = await fill(store)
      const lost = await rotate(store, [NEW!])
      expect(lost).toMatchObject({ code: 1, err: expect.stringContaining(keyIdOf(OLD!)) })
      expect(lost.err).toContain(webhook.id)
      expect(await keyIdsIn(store)).toEqual(Array(5).fill(keyIdOf(OLD!)))
    })

    if (engine.name === 'PostgreSQL')
      test('a key rotation without any key names the setting', async () => {
        const store = await engine.freshStore()
        expect(await rotate(store, [])).toMatchObject({
          code: 78,
          err: expect.stringContaining('JETON_ENCRYPTION_KEY is not set'),
        })
      })
    else
      test('a key rotation works with the key file of an embedded store', async () => {
        const store = await engine.freshStore()
        await fill(store)
        const file = encryptionKeyFile(store.env.JETON_DATA_DIR!)
        rmSync(file, { force: true })
        writeFileSync(file, `${text(NEW!)}\n${text(OLD!)}\n`, { mode: 0o600 })
        expect((await rotate(store, [])).out).toContain('5 re-encrypted')
      })
  })
})
