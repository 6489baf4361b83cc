import { createCipheriv, createDecipheriv, hash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { Problem } from '../contract/problem.ts'
import type { RandomBytes } from './secrets.ts'

/** Encrypts secrets that Jeton must use again (webhook secrets, header values) in the store and its backups. */
export interface Vault {
  /** False without a key: nothing can be encrypted or decrypted. */
  readonly ready: boolean
  /** `context` names table, row and field. A value that is moved elsewhere cannot be decrypted. */
  seal(text: string, context: string): string
  open(sealed: string, context: string): string
}

export const KEY_BYTES = 32
/** GCM's standard nonce (NIST SP 800-38D). Random nonces are safe for 2^32 values per key. */
const NONCE_BYTES = 12
const TAG_BYTES = 16
const VERSION = 'v1'

/** Identifies a key without revealing it. Every value contains the id of its key, so that keys can be replaced. */
export const keyIdOf = (key: Uint8Array): string =>
  hash('sha256', Buffer.concat([Buffer.from('jeton key id\0'), key]), 'hex').slice(0, 8)

/** Key id of an encrypted value; undefined if it is not one. */
export const keyIdIn = (sealed: string): string | undefined => {
  const [version, keyId, body] = sealed.split('.')
  return version === VERSION && body !== undefined ? keyId : undefined
}

const unavailable = (message: string, details: string): Problem =>
  new Problem('encryption_unavailable', { message, details })

const noKey = (): Problem =>
  unavailable(
    'JETON_ENCRYPTION_KEY is not set, so webhook secrets cannot be stored or read.',
    'Set it to the same value for every process. Create one with: openssl rand -base64 32',
  )

const otherKey = (needed: string, present: readonly string[]): Problem =>
  unavailable(
    `A stored secret requires the encryption key with the id ${needed}, but this process has ${present.join(', ')}.`,
    'Set JETON_ENCRYPTION_KEY to that key (SQLite: restore its file encryption.key), add it after a comma, or rotate the secret.',
  )

const altered = (): Problem =>
  unavailable('A stored secret was altered or moved, so it cannot be used.', 'Rotate the secret.')

/** `earlier` keys only decrypt, until no value needs them any more: this is how a key is replaced. */
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
  const additionalData = (id: string, context: string) => Buffer.from(`${VERSION}.${id}.${context}`)

  return {
    ready: true,
    seal(text, context) {
      const nonce = random(NONCE_BYTES)
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(additionalData(keyId, context))
      const body = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
      return `${VERSION}.${keyId}.${body.toString('base64url')}`
    },
    open(sealed, context) {
      const [version, neededKey, body] = sealed.split('.')
      if (version !== VERSION || neededKey === undefined || body === undefined) throw altered()
      const fitting = keys.get(neededKey)
      if (!fitting) throw otherKey(neededKey, [...keys.keys()])
      return decrypt(fitting, Buffer.from(body, 'base64url'), additionalData(neededKey, context))
    },
  }
}

/** Caches decrypted values, because decrypting a secret for every send costs as much as signing with it. */
export function cachingVault(vault: Vault, maxValues: number): Vault {
  const opened = new LRUCache<string, string>({ max: maxValues })
  return {
    ...vault,
    open(sealed, context) {
      const key = `${context} ${sealed}`
      const known = opened.get(key)
      if (known !== undefined) return known
      const value = vault.open(sealed, context)
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
