const UNITS: readonly (readonly [seconds: number, unit: string])[] = [
  [86_400, 'd'],
  [3_600, 'h'],
  [60, 'min'],
  [1, 's'],
]

/** "3 h 12 min": at most two units. */
export function durationText(milliseconds: number): string {
  let rest = Math.max(0, Math.round(milliseconds / 1000))
  const parts: string[] = []
  for (const [seconds, unit] of UNITS) {
    const count = Math.floor(rest / seconds)
    rest -= count * seconds
    if (count > 0) parts.push(`${count} ${unit}`)
    else if (parts.length > 0) break
    if (parts.length === 2) break
  }
  return parts.join(' ') || '0 s'
}

/** Coarser than a duration: one unit is enough to compare ages. */
export function ageText(at: number, now: number): string {
  const seconds = Math.round((now - at) / 1000)
  if (Math.abs(seconds) < 3) return 'now'
  const [size, unit] = UNITS.find(([each]) => Math.abs(seconds) >= each)!
  const count = Math.floor(Math.abs(seconds) / size)
  return seconds > 0 ? `${count} ${unit} ago` : `in ${count} ${unit}`
}

/** In the time zone of the browser and in UTC, with milliseconds. */
export function exactTime(at: string): string {
  const time = new Date(at)
  if (Number.isNaN(time.getTime())) return at
  const local = time.toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'long' })
  return `${local}\n${time.toISOString()}`
}

/** "14:02:11" for today, with the date for other days. */
export function clockTime(at: string | number): string {
  const time = new Date(at)
  const isToday = time.toDateString() === new Date().toDateString()
  return time.toLocaleString(
    undefined,
    isToday ? { timeStyle: 'medium' } : { dateStyle: 'short', timeStyle: 'medium' },
  )
}
