/** Longest wait for an answer of the store. Callers get 503 within seconds, whatever hangs. */
export const QUERY_TIMEOUT_MS = 7_000

/** For migrations and backups, which have no deadline: the longest delay that a timer accepts. */
export const NO_TIMEOUT_MS = 2 ** 31 - 1
