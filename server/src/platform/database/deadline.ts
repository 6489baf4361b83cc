/** Who hears nothing for this long is told that the store is not there: callers get their 503 within seconds, whatever hangs. */
export const SILENCE_MS = 7_000

/** For migrations and copies, which take as long as they take: the longest that a timer can wait. */
export const PATIENT_MS = 2 ** 31 - 1
