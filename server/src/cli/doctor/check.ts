/** What the doctor found about one thing, and what to type where it is not well. */
export interface Finding {
  readonly name: string
  /** A warning is worth a look, and what cannot be seen from here has to be; only a failure makes the doctor say no. */
  readonly result: 'ok' | 'warning' | 'failed' | 'unseen'
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
/** What only people can see to; it is named all the same, so that nobody takes silence for a tick. */
export const unseen = (name: string, says: string, remedy: string): Finding => ({
  name,
  result: 'unseen',
  says,
  do: remedy,
})
