import { entriesOf, HEX, PLATFORM, SIGNATURE, TIMESTAMP } from './signatures.ts'

/** What is wrong with the spelling of a header, and what to do. */
export interface Wrong {
  readonly says: string
  readonly remedy: string
}

export function wrongTimestamp(timestamp: string): Wrong | undefined {
  const remedy = `Pass ${TIMESTAMP} on as it came: seconds since 1970, such as 1760000000.`
  if (/^\d{12,}$/.test(timestamp)) return { says: `${TIMESTAMP} is in milliseconds`, remedy }
  return /^\d{1,11}$/.test(timestamp)
    ? undefined
    : { says: `${TIMESTAMP} is not a number of seconds`, remedy }
}

const ENTRY = /^v1,[A-Za-z0-9+/]{43}=$/

export function wrongSignature(signature: string): Wrong | undefined {
  const entries = entriesOf(signature)
  if (entries.some((entry) => ENTRY.test(entry))) return undefined
  if (entries.some((entry) => HEX.test(entry)))
    return {
      says: `${SIGNATURE} holds hexadecimal digits, as ${PLATFORM} does`,
      remedy: `They are two headers: ${SIGNATURE} is v1,<base64> over id, timestamp and body; ${PLATFORM} is hexadecimal, over the body alone.`,
    }
  const versions = entries.map((entry) => /^(v\w+),/.exec(entry)?.[1]).filter((one) => one !== undefined)
  if (versions.length > 0 && !versions.includes('v1'))
    return {
      says: `${SIGNATURE} has version ${[...new Set(versions)].join(', ')}; this checks v1`,
      remedy:
        'Jeton signs with v1 (HMAC-SHA256). This request comes from elsewhere, or the header was changed.',
    }
  return {
    says: `${SIGNATURE} is not of the form v1,<base64>`,
    remedy: `Pass ${SIGNATURE} on as it came. Several signatures are separated by a space, and + / = belong to them.`,
  }
}
