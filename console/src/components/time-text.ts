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

const two = (value: number): string => String(value).padStart(2, '0')

const dayOf = (time: Date): string =>
  `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`

const minuteOf = (time: Date): string => `${two(time.getHours())}:${two(time.getMinutes())}`

/** In the time zone of the browser and in UTC, with milliseconds. */
export function exactTime(at: string): string {
  const time = new Date(at)
  if (Number.isNaN(time.getTime())) return at
  return `${dayOf(time)} ${minuteOf(time)}:${two(time.getSeconds())} here\n${time.toISOString()}`
}

/** "14:02:11" for today, with the date for other days. */
export function clockTime(at: string | number): string {
  const time = new Date(at)
  const clock = `${minuteOf(time)}:${two(time.getSeconds())}`
  return dayOf(time) === dayOf(new Date()) ? clock : `${dayOf(time)} ${clock}`
}

const DAY_SECONDS = 86_400

/** The text of a tick: the date where ticks are days apart and at midnight, else the time, if necessary with seconds. */
export function tickText(at: number, stepSeconds: number): string {
  const time = new Date(at)
  if (stepSeconds < 60) return `${minuteOf(time)}:${two(time.getSeconds())}`
  const isMidnight = time.getHours() === 0 && time.getMinutes() === 0
  return stepSeconds >= DAY_SECONDS || isMidnight ? dayOf(time).slice(5) : minuteOf(time)
}
