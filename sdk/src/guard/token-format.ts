const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const PROJECT_LENGTH = 16
const CHECKSUM_LENGTH = 6
/** Prefix, project, time, random part, checksum. */
const FORMAT = /^jtn_[0-9A-Za-z]{16}[0-9A-Za-z]{7}[\w-]{43}[0-9A-Za-z]{6}$/

function crc32(text: string): number {
  let crc = ~0
  for (let i = 0; i < text.length; i++) {
    crc ^= text.charCodeAt(i)
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0)
  }
  return ~crc >>> 0
}

function checksumOf(text: string): string {
  let digits = ''
  for (let rest = crc32(text); digits.length < CHECKSUM_LENGTH; rest = Math.floor(rest / 62))
    digits = BASE62[rest % 62] + digits
  return digits
}

/**
 * The project that a well-formed token names; undefined for any other text. The checksum is public: it detects mistakes and
 * not attackers.
 */
export function projectOfToken(token: string): string | undefined {
  if (!FORMAT.test(token) || checksumOf(token.slice(0, -CHECKSUM_LENGTH)) !== token.slice(-CHECKSUM_LENGTH))
    return undefined
  return `proj_${token.slice(4, 4 + PROJECT_LENGTH)}`
}
