import type { Environment } from '../../platform/config/index.ts'

/** What the doctor found about one thing, and what to type where it is not well. */
export interface Finding {
  readonly name: string
  /** `unknown` is what the doctor could not see: never a tick, and no failure either. Only a failure is exit code 78. */
  readonly result: 'ok' | 'warning' | 'failed' | 'unknown'
  readonly says: string
  readonly do?: string
}

export const well = (name: string, says: string): Finding => ({ name, result: 'ok', says })
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
/** Listed all the same, so that nobody takes silence for a tick. */
export const unknown = (name: string, says: string, remedy?: string): Finding => ({
  name,
  result: 'unknown',
  says,
  ...(remedy !== undefined && { do: remedy }),
})

/** A tick for what is not there yet is none. */
export const asUnknown = (finding: Finding): Finding =>
  finding.result === 'ok' ? { ...finding, result: 'unknown' } : finding

/** A tick that rests on defaults tells nothing about a service with an environment of its own. */
export function unlessDefault(finding: Finding, env: Environment, settings: readonly string[]): Finding {
  if (finding.result !== 'ok' || settings.some((name) => env[name] !== undefined)) return finding
  return unknown(finding.name, `${settings.join(', ')} not set in this shell. By default: ${finding.says}`)
}
