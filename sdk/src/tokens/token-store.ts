import { isToken, type TokenFields } from './access-token.ts'

/**
 * Shares tokens between processes, so that fifty processes cost their project one token. Its values are tokens: protect it
 * like a secret.
 */
export interface TokenStore {
  get(key: string): Promise<string | null | undefined>
  set(key: string, value: string, ttlMs: number): Promise<void>
  /** True for one caller at a time, until `unlock` or until `ttlMs` have passed. */
  lock(key: string, ttlMs: number): Promise<boolean>
  unlock(key: string): Promise<void>
}

/** A token with its expiry by the clocks of this process. */
export interface HeldToken {
  readonly fields: TokenFields
  /** Monotonic times. */
  readonly refreshAt: number
  readonly expiresAt: number
  /** Whether other processes use it too. */
  readonly isShared: boolean
}

export const storeKey = (baseUrl: string | URL, appId: string, scope: readonly string[]): string =>
  `jeton:token:${new URL(baseUrl).host}:${appId}:${[...scope].sort().join(',')}`

/** The token of an entry and the milliseconds that it has left by the wall clock; undefined if it is unreadable. */
export function readEntry(
  text: string | null | undefined,
): { fields: TokenFields; leftMs: number } | undefined {
  if (!text) return undefined
  try {
    const fields: unknown = JSON.parse(text)
    if (!isToken(fields)) return undefined
    // A wall clock that is behind must not make a token live longer than a new one.
    const leftMs = Math.min(fields.expires_at * 1000 - Date.now(), fields.expires_in * 1000)
    return { fields, leftMs }
  } catch {
    return undefined
  }
}
