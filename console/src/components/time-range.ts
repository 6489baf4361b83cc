import { useMinute } from './relative-time.tsx'

const MINUTE_MS = 60_000

/** The start of the last minutes. It moves once a minute, so that a chart is not read again for every second. */
export const useMinutesAgo = (minutes: number): string =>
  new Date((useMinute() - minutes) * MINUTE_MS).toISOString()
