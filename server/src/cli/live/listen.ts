import { plain } from '../cells.ts'
import type { ConnectionOptions } from '../connection.ts'
import { EXIT, ExitWith } from '../exit.ts'
import { coloured, type Io, printLine, remark } from '../io.ts'
import { projectId } from '../resolve.ts'
import { openSession, type Session } from '../session.ts'
import { chooseSigner, type Signer } from './choose-signer.ts'
import { EventFeed, type EventHead } from './event-feed.ts'
import { follow } from './follow.ts'
import { handOver, type Outcome, receiverUrl } from './local-receiver.ts'
import { clockTime, type FollowOptions, mostOf, sinceOf, startedText } from './options.ts'

interface ListenOptions extends ConnectionOptions, FollowOptions {
  readonly forwardTo: string
  readonly as?: string
  readonly secret?: string
  readonly project?: string
  readonly json?: boolean
}

interface SignedEvent {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** One event, and what came of it. */
interface Sent {
  readonly event: EventHead
  readonly attempt: number
  readonly signed: SignedEvent
  readonly outcome: Outcome
}

/** Brings events to a receiver on this machine, signed as they are for the real one. Not accepted by it is exit code 1. */
export async function listen(io: Io, options: ListenOptions): Promise<void> {
  const url = receiverUrl(options.forwardTo)
  const most = mostOf(options)
  const since = sinceOf(io, options)
  const session = openSession(io, options)
  const project = await projectId(session)
  const { as, secret } = options
  const signer = await chooseSigner(session, { projectId: project, as, secret, targetUrl: url.href })
  const live = io.goLive()
  const feed = new EventFeed(session, { projectId: project, since, signal: live.stopped })
  await feed.start()
  remark(io, `${signer.says}\n${startedText(feed, options)}`)

  const json = options.json === true
  const forwarder = new Forwarder(io, { session, project, signer, url, json, hasKeys: most === undefined })
  // A run that ends by itself leaves the keyboard alone: what was typed or pasted after it is for the shell.
  const hearKeys = most === undefined ? live.hearKeys : undefined
  const deaf = hearKeys?.((key) => forwarder.press(key))
  try {
    await follow(io, { feed, live, most, handle: (event) => forwarder.forward(event) })
  } finally {
    deaf?.()
  }
  // Someone who stops it has seen what happened; a script that counts wants to know.
  if (most !== undefined && forwarder.refused > 0) throw new ExitWith(EXIT.refused)
}

interface Forwarding {
  readonly session: Session
  readonly project: string
  readonly signer: Signer
  readonly url: URL
  readonly json: boolean
  /** Whether `r` and `d` do something. */
  readonly hasKeys: boolean
}

class Forwarder {
  readonly #io: Io
  readonly #to: Forwarding
  #last: Sent | undefined
  /** How many the receiver did not accept. */
  refused = 0

  constructor(io: Io, to: Forwarding) {
    this.#io = io
    this.#to = to
  }

  async forward(event: EventHead, attempt = 1): Promise<boolean> {
    if (!this.#to.signer.wants(event)) return false
    const signed = await this.#sign(event)
    const headers = { ...signed.headers, 'x-jeton-attempt': String(attempt) }
    const outcome = await handOver(this.#to.url, { headers, body: signed.body })
    this.#last = { event, attempt, signed: { headers, body: signed.body }, outcome }
    if (!isAccepted(outcome)) this.refused++
    this.#print(this.#last)
    return true
  }

  /** `r` sends the last one again, `d` shows it whole. */
  press(key: string): void {
    if (!this.#last) return
    if (key === 'd') printDetails(this.#io, this.#last)
    if (key === 'r')
      this.forward(this.#last.event, this.#last.attempt + 1).catch((error: Error) =>
        remark(this.#io, error.message),
      )
  }

  /** By the server, at the time of sending: the secret never comes here. */
  async #sign({ id }: EventHead): Promise<SignedEvent> {
    const { session, project, signer } = this.#to
    const path = `/management/v1/projects/${project}/events/${id}/signed`
    return (await session.call({ method: 'POST', path, body: signer.asked })).json as SignedEvent
  }

  #print(sent: Sent): void {
    const { json, hasKeys } = this.#to
    const forEveryone = json ? jsonLine : lineForPrograms
    printLine(this.#io, this.#io.isTTY && !json ? lineForPeople(this.#io, sent, hasKeys) : forEveryone(sent))
  }
}

const isAccepted = ({ status }: Outcome): boolean => status !== null && status >= 200 && status < 300

const SAID_SHOWN = 60

/** The beginning of what the receiver said, in one line. */
const excerpt = (said: string): string => {
  const line = plain(said).trim()
  return line.length > SAID_SHOWN ? `${line.slice(0, SAID_SHOWN)}…` : line
}

function lineForPeople(io: Io, { event, outcome, attempt }: Sent, hasKeys: boolean): string {
  const { status, durationMs, said } = outcome
  const accepted = isAccepted(outcome)
  const word = coloured(io, accepted ? 'green' : 'red', String(status ?? '–'))
  const again = attempt > 1 ? `  (attempt ${attempt})` : ''
  const why = accepted
    ? ''
    : `   ${status === null ? said : JSON.stringify(excerpt(said))}${hasKeys ? '   r to resend · d for details' : ''}`
  return `${clockTime(event.created_at)}  ${plain(event.type)}  ${event.id}  →  ${word}  ${durationMs} ms${again}${why}`
}

const lineForPrograms = ({ event, outcome: { status, durationMs, said } }: Sent): string =>
  [event.created_at, plain(event.type), event.id, status ?? '', durationMs, excerpt(said)].join('\t')

const jsonLine = ({ event, attempt, signed, outcome }: Sent): string =>
  JSON.stringify({
    event_id: event.id,
    type: event.type,
    created_at: event.created_at,
    delivery_id: signed.headers['webhook-id'],
    attempt,
    status: outcome.status,
    duration_ms: outcome.durationMs,
    answer: outcome.said,
  })

function printDetails(io: Io, { signed, outcome }: Sent): void {
  const headers = Object.entries(signed.headers).map(([name, value]) => `  ${name}: ${plain(value)}`)
  const lines = [
    ...headers,
    '',
    `  ${plain(signed.body)}`,
    '',
    `  → ${outcome.status ?? '–'}  ${plain(outcome.said)}`,
  ]
  for (const line of lines) printLine(io, line.trimEnd())
}
