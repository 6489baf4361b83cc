/** What happened is not what is promised. */
export class NotAsPromised extends Error {
  override readonly name = 'NotAsPromised'
}

export function promised(holds: boolean, otherwise: string): asserts holds {
  if (!holds) throw new NotAsPromised(otherwise)
}

/** Of a step before; without it this one cannot be tried. */
export function needed<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new NotAsPromised(`not tried, for want of ${what}`)
  return value
}

/** `1.9 ms`, `41 ms`. */
export const shownMs = (ms: number): string => `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`
