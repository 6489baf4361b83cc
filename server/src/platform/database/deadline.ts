/** Maximum wait for the store, so that callers get 503 within seconds if anything hangs. */
export const QUERY_TIMEOUT_MS = 7_000

/** For migrations and backups, which have no timeout: the longest delay that a timer accepts. */
export const NO_TIMEOUT_MS = 2 ** 31 - 1
