import { createHash } from 'node:crypto'
import { ID_PREFIX } from '../../contract/ids.ts'
import { isoTime, isoTimeOrNull } from '../../platform/http/index.ts'
import type { Attention } from '../attention/attention.ts'

export interface NoticeRow {
  id: string
  kind: string
  subject_type: string
  subject_id: string
  /** The problem when it was found, as JSON. */
  entry: string
  started_at: number
  /** When a process last found the problem. */
  seen_at: number
  ended_at: number | null
  /** 1 once somebody has tried to send the start: then the end must be sent too. */
  was_tried: number
  /** Failed attempts of the message that is due. */
  attempts: number
  /** When the message is due: of an open notice the start, of an ended one the end. Null if there is none. */
  next_attempt_at: number | null
}

const HOUR_MS = 60 * 60_000

/** Notices are for people who should do something. */
export const isNoticed = ({ severity }: Attention): boolean => severity !== 'info'

export const subjectKey = (row: Pick<NoticeRow, 'kind' | 'subject_type' | 'subject_id'>): string =>
  `${row.kind} ${row.subject_type} ${row.subject_id}`

/**
 * A notice of a problem that was found now. Its id follows from the subject and the hour, so that processes that find the
 * same problem make the same notice. `salt` tells installations apart that report to one receiver.
 */
export function newNotice(found: Attention, { now, salt }: { now: number; salt: string }): NoticeRow {
  const subject = { kind: found.kind, subject_type: found.subject.type, subject_id: found.subject.id }
  const name = JSON.stringify([salt, subject, Math.floor(now / HOUR_MS)])
  return {
    id: ID_PREFIX.notice + createHash('sha256').update(name).digest('hex').slice(0, 24),
    ...subject,
    entry: JSON.stringify(withoutPaths(found)),
    started_at: now,
    seen_at: now,
    ended_at: null,
    was_tried: 0,
    attempts: 0,
    next_attempt_at: now,
  }
}

/** A receiver's path and query may contain its token, and a notice leaves the service. */
const withoutPath = (text: string): string =>
  text.replace(/https?:\/\/[^\s"']+/g, (url) => {
    const { origin, pathname, search } = URL.parse(url) ?? {}
    if (origin === undefined) return '…'
    return pathname === '/' && search === '' ? origin : `${origin}/…`
  })

const withoutPaths = (found: Attention): Attention => ({
  ...found,
  subject: { ...found.subject, name: withoutPath(found.subject.name) },
  message: withoutPath(found.message),
})

export interface Message {
  /** The same for every attempt, so that receivers recognise a repetition. */
  readonly id: string
  readonly body: Buffer
}

/** The start of an open notice, the end of one that has ended. */
export function messageOf(row: NoticeRow, service: string): Message {
  const found = JSON.parse(row.entry) as Attention
  const hasEnded = row.ended_at !== null
  const body = {
    type: hasEnded ? 'attention.ended' : 'attention.started',
    timestamp: isoTime(row.ended_at ?? row.started_at),
    text: textOf(found, row, service),
    data: {
      id: row.id,
      service,
      ...found,
      since: isoTimeOrNull(found.since),
      started_at: isoTime(row.started_at),
      ended_at: isoTimeOrNull(row.ended_at),
    },
  }
  return { id: `${row.id}_${hasEnded ? 'end' : 'start'}`, body: Buffer.from(JSON.stringify(body)) }
}

/** One line that chat tools show as it is: they treat `<`, `>` and `&` as markup. */
function textOf(found: Attention, { started_at, ended_at }: NoticeRow, service: string): string {
  const line =
    ended_at === null
      ? `Jeton ${service}: ${found.severity}: ${found.message} Fix: ${found.fix.command}`
      : `Jeton ${service}: over after ${minutes(ended_at - started_at)}: ${found.message}`
  return line
    .replace(/[\s\p{C}]+/gu, ' ')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
}

const minutes = (ms: number): string => `${Math.max(1, Math.round(ms / 60_000))} min`
