const setting = process.env.JETON_FAST_PATH

/** The setting of the vitest project that runs: services are started with the fast path or without it. */
export const FAST_PATH: Readonly<Record<string, string>> = setting ? { JETON_FAST_PATH: setting } : {}
