/** The result of one check, and how to fix it. */
export interface Finding {
  readonly name: string
  /** `unknown` cannot be checked, which is neither success nor failure. Only `failed` leads to exit code 78. */
  readonly result: 'ok' | 'warning' | 'failed' | 'unknown'
  readonly says: string
  readonly do?: string
}

export const ok = (name: string, says: string): Finding => ({ name, result: 'ok', says })
export const warning = (name: string, says: string, remedy: string): Finding => ({
  name,
  result: 'warning',
  says,
  do: remedy,
})
export const failed = (name: string, says: string, remedy: string): Finding => ({
  name,
  result: 'failed',
  says,
  do: remedy,
})
/** Listed, so that a missing check is not mistaken for success. */
export const unknown = (name: string, says: string, remedy?: string): Finding => ({
  name,
  result: 'unknown',
  says,
  ...(remedy !== undefined && { do: remedy }),
})

/** Turns success into unknown, for what does not exist yet. */
export const asUnknown = (finding: Finding): Finding =>
  finding.result === 'ok' ? { ...finding, result: 'unknown' } : finding
