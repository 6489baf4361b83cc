/** Parses `Retry-After` (RFC 9110 §10.2.3: seconds or a date). Returns null for an unknown format. */
export function retryAfterMs(header: string | null, nowMs: number): number | null {
  const text = header?.trim() ?? ''
  if (/^\d+$/.test(text)) return Number(text) * 1000
  // All date formats in use end like this. Date.parse alone would accept almost anything.
  const at = text.endsWith(' GMT') ? Date.parse(text) : Number.NaN
  return Number.isNaN(at) ? null : Math.max(at - nowMs, 0)
}
