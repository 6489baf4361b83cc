import { describe, expect, test } from 'vitest'
import { Problem } from '../../contract/problem.ts'
import { createVault } from '../../platform/encryption.ts'
import { randomBytes } from '../../platform/secrets.ts'
import type { DestinationRow } from './destination.store.ts'
import { HEADER_NAME_PATTERN, MASK, maskedHeaders, openHeaders, sealHeaders } from './extra-headers.ts'
import { makeSecret, openSecrets } from './signing-secret.ts'

const vault = createVault(Buffer.alloc(32, 1), randomBytes)
const owner = { project_id: 'proj_1', id: 'distr_1' }
const rowWith = (fields: Partial<DestinationRow>) =>
  ({ ...owner, headers: '{}', previous_secret: null, previous_until: null, ...fields }) as DestinationRow

describe('a signing secret', () => {
  test('follows Standard Webhooks: whsec_ and base64 of 24 to 64 bytes, without URL-unsafe characters', () => {
    for (let i = 0; i < 100; i++) {
      const { shown, stored } = makeSecret({ vault, random: randomBytes }, owner)
      expect(shown).toMatch(/^whsec_[0-9A-Za-z]{44}$/)
      const bytes = Buffer.from(shown.slice(6), 'base64')
      expect(bytes).toHaveLength(33)
      expect(bytes.toString('base64')).toBe(shown.slice(6))
      expect(stored.secret_last4).toBe(shown.slice(-4))
      expect(stored.secret).not.toContain(shown.slice(6, 20))
    }
  })

  test('signs first, and the previous secret signs too until the overlap ends', () => {
    const before = makeSecret({ vault, random: randomBytes }, owner)
    const now = makeSecret({ vault, random: randomBytes }, owner)
    const row = rowWith({ ...now.stored, previous_secret: before.stored.secret, previous_until: 1_000 })
    expect(openSecrets(vault, row, 999)).toEqual([now.shown, before.shown])
    expect(openSecrets(vault, row, 1_000)).toEqual([now.shown])
    expect(openSecrets(vault, rowWith(now.stored), 0)).toEqual([now.shown])
  })

  test('cannot be decrypted after it is copied into another row', () => {
    const { stored } = makeSecret({ vault, random: randomBytes }, owner)
    for (const thief of [{ id: 'distr_2' }, { project_id: 'proj_2' }])
      expect(() => openSecrets(vault, rowWith({ ...stored, ...thief }), 0)).toThrow(Problem)
  })
})

describe('extra headers', () => {
  const sealed = (headers: Record<string, string>, before = '{}') =>
    sealHeaders(vault, { ...owner, headers: before }, headers)

  test('are stored encrypted, shown masked, and sent as they were set', () => {
    const headers = { authorization: 'Bearer of-the-receiver', 'x-tenant': 'seven' }
    const stored = sealed(headers)
    for (const value of Object.values(headers)) expect(stored).not.toContain(value)
    expect(maskedHeaders({ headers: stored })).toEqual({ authorization: MASK, 'x-tenant': MASK })
    expect(openHeaders(vault, { ...owner, headers: stored })).toEqual(headers)
  })

  test('keep their values if the request sends the mask', () => {
    const before = sealed({ authorization: 'Bearer old', 'x-old': 'old' })
    const after = sealed({ authorization: MASK, 'x-new': 'new' }, before)
    expect(openHeaders(vault, { ...owner, headers: after })).toEqual({
      authorization: 'Bearer old',
      'x-new': 'new',
    })
    expect(() => sealed({ 'x-never': MASK }, before)).toThrow(/x-never.*no value is stored/)
  })

  test('cannot be decrypted under another name or in another row', () => {
    const [value] = Object.values(JSON.parse(sealed({ 'x-a': 'secret' })) as Record<string, string>)
    const renamed = JSON.stringify({ 'x-b': value })
    expect(() => openHeaders(vault, { ...owner, headers: renamed })).toThrow(Problem)
    const elsewhere = { ...owner, id: 'distr_2', headers: JSON.stringify({ 'x-a': value }) }
    expect(() => openHeaders(vault, elsewhere)).toThrow(Problem)
  })

  test.each(['authorization', 'x-tenant', 'x-api-key', 'cookie', 'accept', 'x_y', 'a'])('may be %s', (name) =>
    expect(name).toMatch(new RegExp(HEADER_NAME_PATTERN, 'u')),
  )

  const refused = [
    'Authorization',
    'X-Tenant',
    'x tenant',
    'x-tenänt',
    'x:y',
    '',
    'x-a\r\nx-b',
    'x'.repeat(101),
    'webhook-id',
    'webhook-timestamp',
    'webhook-signature',
    'x-voucherify-signature',
    'x-jeton-event',
    'x-jeton-anything',
    'content-type',
    'user-agent',
    'host',
    'content-length',
    'transfer-encoding',
    'connection',
    'keep-alive',
    'proxy-connection',
    'te',
    'trailer',
    'upgrade',
    'expect',
    'content-encoding',
    'accept-encoding',
  ]
  test.each(refused)('reject the name %j', (name) =>
    expect(name).not.toMatch(new RegExp(HEADER_NAME_PATTERN, 'u')),
  )
})
