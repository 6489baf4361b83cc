/**
 * What `Retry-After` asks for (RFC 9110 §10.2.3: seconds or a date), however long; null where it says nothing that can be
 * understood.
 */
export function retryAfterMs(header: string | null, nowMs: number): number | null {
  const text = header?.trim() ?? ''
  if (/^\d+$/.test(text)) return Number(text) * 1000
  // Dates end so in the forms that are in use; Date.parse alone takes almost anything for one.
  const at = text.endsWith(' GMT') ? Date.parse(text) : Number.NaN
  return Number.isNaN(at) ? null : Math.max(at - nowMs, 0)
}
