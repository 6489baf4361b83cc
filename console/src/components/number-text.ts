const whole = new Intl.NumberFormat('en')

export const countText = (count: number): string => whole.format(count)

/** "1 token", "3 tokens". */
export const plural = (count: number, noun: string, nouns = `${noun}s`): string =>
  `${countText(count)} ${count === 1 ? noun : nouns}`

/** 4.8 k instead of 4,812 where space is short. */
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })
export const shortCount = (count: number): string => compact.format(count)

export const percentText = (share: number): string =>
  `${(share * 100).toFixed(share < 0.9995 && share > 0.99 ? 2 : 0)} %`

const BYTE_UNITS = ['bytes', 'KB', 'MB', 'GB', 'TB']
export function bytesText(bytes: number): string {
  const power = Math.min(BYTE_UNITS.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10))
  return `${(bytes / 1024 ** power).toFixed(power === 0 ? 0 : 1)} ${BYTE_UNITS[power]}`
}
