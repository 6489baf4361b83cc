/** Who lived that long did not die of how it was started: its successor comes at once. */
const LONG_LIFE_MS = 60_000
const FIRST_DELAY_MS = 200
/** Long enough to cost nothing, short enough that service is back soon after the cause is mended. */
const LONGEST_DELAY_MS = 30_000

/** How long to wait before a worker is replaced, and how many in a row have died young: never a busy loop. */
export function replacementDelay(livedMs: number, diedYoung: number): { delayMs: number; diedYoung: number } {
  if (livedMs >= LONG_LIFE_MS) return { delayMs: 0, diedYoung: 0 }
  return { delayMs: Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** diedYoung), diedYoung: diedYoung + 1 }
}
