const IRREGULAR: Readonly<Record<string, string>> = { audit: 'audit entries' }

/** `deliveries`, for messages. */
export const plural = (noun: string): string =>
  IRREGULAR[noun] ?? (noun.endsWith('y') && noun !== 'key' ? `${noun.slice(0, -1)}ies` : `${noun}s`)
