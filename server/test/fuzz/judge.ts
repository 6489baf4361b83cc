import type { Case } from './requests.ts'
import type { Heard, WireAnswer } from './wire.ts'

/** Internals: stack traces, SQL, files, addresses of stores. The fuzzer itself sends none of these. */
const INSIDE =
  /\bat [\w.<>]+ \(|\.ts:\d+|\.js:\d+|node_modules|node:internal|SQLITE_|PostgresError|postgres(ql)?:\/\/|\bsyntax error\b|\brelation "|violates|ECONN|EPIPE|ENOENT|\binsert into\b|\bselect \w+.* from\b|\/work\/|\/tmp\/|\/root\/|\/home\//i

const HAS_ID = /\r\nx-request-id: v-[0-9a-f]{18}/i

/** Must never be in a response: secrets, and data of another project. */
export interface Forbidden {
  readonly secrets: readonly string[]
  /** Part of all data of the other project. Operators may see it. */
  readonly marker: string
}

/** Answers that describe the service to an operator: they name its database and its folders. */
const DESCRIBES_SERVICE = /"object":"(store|setting|check)"/

function faultsOf(answer: WireAnswer, { caller, kind }: Case, { secrets, marker }: Forbidden): string[] {
  const faults: string[] = []
  const { status, head, body } = answer
  if (Number.isNaN(status)) faults.push('an answer that is no HTTP')
  if (status >= 500 && status !== 503) faults.push(`status ${status}`)
  if (status >= 400 && !HAS_ID.test(head)) faults.push(`status ${status} without a request id`)
  if (status >= 400 && /application\/json/.test(head) && body !== '' && !isError(body, status))
    faults.push(`status ${status} with another body than errors have`)
  const inside =
    (status === 200 && DESCRIBES_SERVICE.test(body) ? null : INSIDE.exec(body)) ?? INSIDE.exec(head)
  if (inside) faults.push(`shows internals: ${inside[0]}`)
  if (/\r\nx-injected:/i.test(head)) faults.push('a header was injected')
  for (const secret of secrets)
    if (body.includes(secret) || head.includes(secret)) faults.push('a secret was shown')
  if (caller !== 'operator' && body.includes(marker)) faults.push("another project's data was shown")
  if (kind === 'smuggled' && status === 200) faults.push('a smuggled request was answered')
  return faults
}

function isError(body: string, status: number): boolean {
  try {
    const { code, key, message, request_id } = JSON.parse(body)
    return code === status && [key, message, request_id].every((text) => typeof text === 'string')
  } catch {
    return false
  }
}

/** Describes everything that must not have happened. */
export function judge(one: Case, heard: Heard, forbidden: Forbidden): string[] {
  const faults = heard.answers.flatMap((answer) => faultsOf(answer, one, forbidden))
  if (heard.hung) faults.push(`no answer and no end after ${Math.round(heard.ms)} ms`)
  const few = one.answers !== undefined && heard.answers.length < one.answers
  // A connection may close early after a response with `Connection: close`; then nothing may follow.
  if (few && !heard.closed) faults.push(`${heard.answers.length} answers to ${one.answers} requests`)
  const most = one.answers ?? 1
  if (heard.answers.length > most) faults.push(`${heard.answers.length} answers to ${most} requests`)
  return faults
}

/** The request as it was sent, so that it can be repeated. */
export const exactly = ({ kind, bytes }: Case): string =>
  `${kind}, ${bytes.length} bytes: ${JSON.stringify(bytes.subarray(0, 3_000).toString('latin1'))}${
    bytes.length > 3_000 ? ` … base64 of all: ${bytes.toString('base64').slice(0, 200_000)}` : ''
  }`
