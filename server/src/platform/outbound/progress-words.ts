import { withoutCredentials } from '../../contract/ids.ts'
import { HeadersTooLong, NotHttp } from './answer-reader.ts'

/** How far a send had come when it ended. */
interface Progress {
  readonly connecting: boolean
  readonly underWay: boolean
  /** Null where the connection was there before. */
  readonly connectMs: number | null
  readonly status: number | null
  readonly received: number
  /** As the answer announced it. */
  readonly length: number | null
}

const bytesOf = ({ received, length }: Progress): string =>
  length === null ? `${received} ${received === 1 ? 'byte' : 'bytes'}` : `${received} of ${length} bytes`

/** At the deadline. */
export function lateWords(progress: Progress, deadlineMs: number): string {
  const limit = `${deadlineMs / 1000} s`
  const { status, underWay, connecting, connectMs } = progress
  if (status !== null) return `answered ${status} but did not finish within ${limit} (${bytesOf(progress)})`
  if (!underWay && connecting) return `no connection within ${limit}`
  if (!underWay) return `no TLS within ${limit} (connected, but the handshake did not end)`
  const how = connectMs === null ? 'the connection was open' : `connected in ${Math.round(connectMs)} ms`
  return `no answer within ${limit} (${how})`
}

/** After the headers of the answer. */
export function brokenOffWords(error: Error, progress: Progress): string {
  const answered = `answered ${progress.status} but`
  if (error instanceof HeadersTooLong) return `${answered} sent trailers without end`
  return `${answered} ${error instanceof NotHttp ? 'broke the rules of HTTP' : 'closed'} after ${bytesOf(progress)}`
}

const REDIRECTS = new Set([301, 302, 303, 307, 308])
const WEB = /^https?:$/
const PLACE_MAX_LENGTH = 300

/** Without the query, which may hold a token. */
export function redirectWords(status: number | null, location: string | null, from: URL): string | null {
  if (status === null || !REDIRECTS.has(status)) return null
  const target = location === null ? null : URL.parse(location, from.href)
  // Its own path may be a secret, and is not repeated.
  const isSame = target?.origin === from.origin && target.pathname === from.pathname
  const isWeb = target && WEB.test(target.protocol)
  const place = isSame ? 'to itself' : isWeb ? `to ${target.origin}${target.pathname}` : 'elsewhere'
  return `redirected ${withoutCredentials(place).slice(0, PLACE_MAX_LENGTH)}; redirects are not followed`
}
