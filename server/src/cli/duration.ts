import { wrongUsage } from './exit.ts'

const UNIT_MS: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  min: 60_000,
  h: 3_600_000,
  d: 86_400_000,
}

/** `90s`, `5m`, `1h`, `2d`; a number alone is seconds. */
export function durationMs(flag: string, text: string): number {
  const [, count, unit = 's'] = /^(\d{1,9})\s*([a-z]+)?$/.exec(text.trim().toLowerCase()) ?? []
  const size = UNIT_MS[unit]
  if (count === undefined || size === undefined)
    throw wrongUsage(`${flag}: ${JSON.stringify(text)} is not a length of time such as 90s, 5m, 1h or 2d.`)
  return Number(count) * size
}
