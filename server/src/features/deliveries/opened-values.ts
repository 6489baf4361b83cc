import type { Vault } from '../../platform/encryption.ts'

/** The secrets of about a thousand destinations; beyond, the oldest are opened again when they are needed. */
const KEPT = 2_000

const remembering = new WeakMap<Vault, Vault>()

/**
 * The same vault, which remembers what it has opened: decrypting for every send is waste. By place as well, since what
 * was moved elsewhere must not open there.
 */
export function rememberOpened(vault: Vault): Vault {
  const known = remembering.get(vault)
  if (known) return known
  const opened = new Map<string, string>()
  const made: Vault = {
    ready: vault.ready,
    seal: vault.seal,
    open(sealed, place) {
      const key = `${place} ${sealed}`
      const found = opened.get(key)
      if (found !== undefined) return found
      const text = vault.open(sealed, place)
      if (opened.size >= KEPT) opened.delete(opened.keys().next().value!)
      opened.set(key, text)
      return text
    },
  }
  remembering.set(vault, made)
  return made
}
