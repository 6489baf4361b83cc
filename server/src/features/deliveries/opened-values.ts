import type { Vault } from '../../platform/encryption.ts'

/** The secrets of about a thousand destinations; beyond, the oldest are opened again when they are needed. */
const KEPT = 2_000

const remembering = new WeakMap<Vault, Vault>()

interface OpenedValue {
  /** What was moved elsewhere must not open there. */
  readonly place: string
  readonly text: string
}

/** The same vault, which remembers what it has opened: decrypting for every send is waste. */
export function rememberOpened(vault: Vault): Vault {
  const known = remembering.get(vault)
  if (known) return known
  const opened = new Map<string, OpenedValue>()
  const made: Vault = {
    ready: vault.ready,
    seal: vault.seal,
    open(sealed, place) {
      const found = opened.get(sealed)
      if (found?.place === place) return found.text
      const text = vault.open(sealed, place)
      if (opened.size >= KEPT) opened.delete(opened.keys().next().value!)
      opened.set(sealed, { place, text })
      return text
    },
  }
  remembering.set(vault, made)
  return made
}
