import { createCipheriv, createDecipheriv, hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { Problem } from '../contract/problem.ts'
import type { RandomBytes } from './secrets.ts'

/** Keeps what Jeton must use again (webhook secrets, values of headers) unreadable in the store and its backups. */
export interface Vault {
  /** False where there is no key: nothing can be stored or read then. */
  readonly ready: boolean
  /** `place` names where it is kept (table, row, field): moved elsewhere it does not open. */
  seal(text: string, place: string): string
  open(sealed: string, place: string): string
}

export const KEY_BYTES = 32
/** What GCM is made for (NIST SP 800-38D); random ones are safe for 2^32 values under a key. */
const NONCE_BYTES = 12
const TAG_BYTES = 16
const VERSION = 'v1'

/** Names the key without telling anything of it, so that a value says which one it needs, and keys can be replaced. */
export const keyIdOf = (key: Uint8Array): string =>
  hash('sha256', Buffer.concat([Buffer.from('jeton key id\0'), key]), 'hex').slice(0, 8)

/** Which key a stored value needs; undefined where it is none of ours. */
export const keyIdIn = (sealed: string): string | undefined => {
  const [version, keyId, body] = sealed.split('.')
  return version === VERSION && body !== undefined ? keyId : undefined
}

const unavailable = (message: string, details: string): Problem =>
  new Problem('encryption_unavailable', { message, details })

const noKey = (): Problem =>
  unavailable(
    'JETON_ENCRYPTION_KEY is not set, so secrets of webhooks can be neither stored nor read.',
    'Set it to the same value for every process; one can be made with: openssl rand -base64 32',
  )

const otherKey = (needed: string, present: readonly string[]): Problem =>
  unavailable(
    `A stored secret needs the encryption key with the id ${needed}; this process has ${present.join(', ')}.`,
    'Set JETON_ENCRYPTION_KEY to the key that it was stored with (SQLite: the file encryption.key of that time), or add that one after a comma; or rotate the secret.',
  )

const altered = (): Problem =>
  unavailable('A stored secret was altered or moved, so it cannot be used.', 'Rotate it.')

/** `earlier` keys only open what they sealed, until nothing needs them any more: how a key is replaced. */
export function createVault(
  key: Buffer | undefined,
  random: RandomBytes,
  earlier: readonly Buffer[] = [],
): Vault {
  if (key === undefined) return { ready: false, seal: () => refuse(noKey()), open: () => refuse(noKey()) }
  const keys = new Map([key, ...earlier].map((one) => [keyIdOf(one), one]))
  for (const one of keys.values())
    if (one.length !== KEY_BYTES) throw new Error(`an encryption key has ${KEY_BYTES} bytes`)
  const keyId = keyIdOf(key)
  const context = (id: string, place: string) => Buffer.from(`${VERSION}.${id}.${place}`)

  return {
    ready: true,
    seal(text, place) {
      const nonce = random(NONCE_BYTES)
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(context(keyId, place))
      const body = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
      return `${VERSION}.${keyId}.${body.toString('base64url')}`
    },
    open(sealed, place) {
      const [version, neededKey, body] = sealed.split('.')
      if (version !== VERSION || neededKey === undefined || body === undefined) throw altered()
      const fitting = keys.get(neededKey)
      if (!fitting) throw otherKey(neededKey, [...keys.keys()])
      return decrypt(fitting, Buffer.from(body, 'base64url'), context(neededKey, place))
    },
  }
}

/** Remembers the last values that it opened: decrypting a secret for every send costs as much as signing with it. */
export function cachingVault(vault: Vault, maxValues: number): Vault {
  const opened = new LRUCache<string, string>({ max: maxValues })
  return {
    ...vault,
    open(sealed, place) {
      const key = `${place} ${sealed}`
      const known = opened.get(key)
      if (known !== undefined) return known
      const value = vault.open(sealed, place)
      opened.set(key, value)
      return value
    },
  }
}

function decrypt(key: Buffer, body: Buffer, context: Buffer): string {
  if (body.length < NONCE_BYTES + TAG_BYTES) throw altered()
  const decipher = createDecipheriv('aes-256-gcm', key, body.subarray(0, NONCE_BYTES), {
    authTagLength: TAG_BYTES,
  })
  decipher.setAAD(context).setAuthTag(body.subarray(-TAG_BYTES))
  const start = decipher.update(body.subarray(NONCE_BYTES, -TAG_BYTES))
  try {
    return Buffer.concat([start, decipher.final()]).toString('utf8')
  } catch {
    throw altered()
  }
}

function refuse(problem: Problem): never {
  throw problem
}
