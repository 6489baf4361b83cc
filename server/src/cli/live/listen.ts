import type { Command } from 'commander'
import { TEST_EVENT } from '../../contract/event-kinds.ts'
import { ID_PREFIX, WEBHOOK_SECRET_PREFIX } from '../../contract/ids.ts'
import { newSigningSecret, randomBytes } from '../../platform/secrets.ts'
import { openSession, type Session } from '../call-api.ts'
import { addConnectionOptions, type ConnectionOptions } from '../connection.ts'
import { EXIT, ExitWith } from '../exit.ts'
import { exampleText, plain } from '../format.ts'
import { coloured, type Io, printLine, remark } from '../io.ts'
import { PROJECT_TEXT } from '../key-pair.ts'
import { type List, projectId, type Resource, resolveReference } from '../resolve.ts'
import {
  clockTime,
  EventFeed,
  type EventHead,
  type FollowOptions,
  follow,
  maxEventsOf,
  SINCE_TEXT,
  sinceOf,
  startedText,
} from './event-feed.ts'
import { type Outcome, postTo, receiverUrl } from './local-receiver.ts'

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

/** An event and the response of the receiver. */
interface Sent {
  readonly event: EventHead
  readonly attempt: number
  readonly signed: SignedEvent
  readonly outcome: Outcome
}

/** Forwards events to a local receiver, signed like a delivery. With --events, exit code 1 if the receiver rejected one. */
export async function listen(io: Io, options: ListenOptions): Promise<void> {
  const url = receiverUrl(options.forwardTo)
  const max = maxEventsOf(options)
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
  const forwarder = new Forwarder(io, { session, project, signer, url, json, hasKeys: max === undefined })
  // A run with --events does not read keys: input that is typed or pasted after it is for the shell.
  const onKey = max === undefined ? live.onKey : undefined
  const stopKeys = onKey?.((key) => forwarder.press(key))
  try {
    await follow(io, { feed, live, max, handle: (event) => forwarder.forward(event) })
  } finally {
    stopKeys?.()
  }
  // With Ctrl-C the user has seen the results; a script needs the exit code.
  if (max !== undefined && forwarder.rejected > 0) throw new ExitWith(EXIT.refused)
}

interface ForwardTarget {
  readonly session: Session
  readonly project: string
  readonly signer: Signer
  readonly url: URL
  readonly json: boolean
  /** Whether the keys `r` and `d` work. */
  readonly hasKeys: boolean
}

class Forwarder {
  readonly #io: Io
  readonly #to: ForwardTarget
  #last: Sent | undefined
  /** Number of events that the receiver did not accept. */
  rejected = 0

  constructor(io: Io, to: ForwardTarget) {
    this.#io = io
    this.#to = to
  }

  async forward(event: EventHead, attempt = 1): Promise<boolean> {
    if (!this.#to.signer.wants(event)) return false
    const signed = await this.#sign(event)
    const headers = { ...signed.headers, 'x-jeton-attempt': String(attempt) }
    const outcome = await postTo(this.#to.url, { headers, body: signed.body })
    this.#last = { event, attempt, signed: { headers, body: signed.body }, outcome }
    if (!isAccepted(outcome)) this.rejected++
    this.#print(this.#last)
    return true
  }

  /** `r` resends the last event, `d` prints it. */
  press(key: string): void {
    if (!this.#last) return
    if (key === 'd') printDetails(this.#io, this.#last)
    if (key === 'r')
      this.forward(this.#last.event, this.#last.attempt + 1).catch((error: Error) =>
        remark(this.#io, error.message),
      )
  }

  /** Signed by the server at the time of sending, so that the secret stays there. */
  async #sign({ id }: EventHead): Promise<SignedEvent> {
    const { session, project, signer } = this.#to
    const path = `/management/v1/projects/${project}/events/${id}/signed`
    return (await session.call({ method: 'POST', path, body: signer.body })).json as SignedEvent
  }

  #print(sent: Sent): void {
    const { json, hasKeys } = this.#to
    const forEveryone = json ? jsonLine : lineForPrograms
    printLine(this.#io, this.#io.isTTY && !json ? lineForPeople(this.#io, sent, hasKeys) : forEveryone(sent))
  }
}

const isAccepted = ({ status }: Outcome): boolean => status !== null && status >= 200 && status < 300

const MAX_EXCERPT = 60

/** The start of the response, on one line. */
const excerpt = (said: string): string => {
  const line = plain(said).trim()
  return line.length > MAX_EXCERPT ? `${line.slice(0, MAX_EXCERPT)}…` : line
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

/** The destination that the local receiver stands in for. */
export interface Signer {
  /** A sentence for the user. */
  readonly says: string
  /** Body of the request to sign. */
  readonly body: Readonly<Record<string, string>>
  /** Whether the destination would receive the event. */
  wants(event: EventHead): boolean
}

interface SignerChoice {
  readonly projectId: string
  /** The value of `--as`. */
  readonly as?: string | undefined
  readonly secret?: string | undefined
  readonly targetUrl: string
}

/** The given destination, or the newest active webhook, or any destination, or a secret for this run. */
export async function chooseSigner(session: Session, choosing: SignerChoice): Promise<Signer> {
  if (choosing.secret !== undefined)
    return withSecret(choosing, choosing.secret, 'Signing with the given secret.')
  if (choosing.as !== undefined) return signerOf(await named(session, choosing.projectId, choosing.as))
  const found = await firstDestination(session, choosing.projectId)
  if (found) return signerOf(found)
  const secret = newSigningSecret(randomBytes, WEBHOOK_SECRET_PREFIX)
  return withSecret(
    choosing,
    secret,
    `There is no webhook yet. Signing with a new secret: ${secret} (reuse it with --secret).`,
  )
}

const withSecret = ({ targetUrl }: SignerChoice, secret: string, says: string): Signer => ({
  says,
  body: { secret, target_url: targetUrl },
  wants: ({ kind }) => kind !== TEST_EVENT,
})

function signerOf(destination: Resource): Signer {
  const id = String(destination.id)
  const name = destination.name ?? destination.description
  const shown = name ? `${id} ${JSON.stringify(plain(String(name)))}` : id
  const headers = Object.keys((destination.headers as object | undefined) ?? {})
  const without = headers.length > 0 ? ` Its custom headers (${headers.join(', ')}) are not sent.` : ''
  const events = destination.events as readonly string[]
  return {
    says: `Signing with the secret of ${shown} (choose with --as).${without}`,
    body: { destination: id },
    // A test event belongs to one destination.
    wants: ({ kind, entity_id, campaign_id }) =>
      kind === TEST_EVENT
        ? entity_id === id
        : events.includes(kind) && (destination.campaign_id ?? campaign_id) === campaign_id,
  }
}

async function named(session: Session, projectId: string, typed: string): Promise<Resource> {
  const noun = typed.startsWith(ID_PREFIX.webhook) ? 'webhook' : 'distribution'
  const id = await resolveReference(session, { noun, typed, projectId })
  const path = `/management/v1/projects/${projectId}/${noun}s/${encodeURIComponent(id)}`
  return (await session.call({ method: 'GET', path })).json as Resource
}

async function firstDestination(session: Session, projectId: string): Promise<Resource | undefined> {
  for (const noun of ['webhooks', 'distributions']) {
    const path = `/management/v1/projects/${projectId}/${noun}`
    const { data } = (await session.call({ method: 'GET', path, query: { limit: '100' } })).json as List
    const chosen = data.find(({ active }) => active) ?? data[0]
    if (chosen) return chosen
  }
  return undefined
}

export function addListen(program: Command, io: Io): void {
  const command = program
    .command('listen')
    .summary('forward events to a receiver on this machine')
    .description(
      'Forwards each event of the project to a URL on this machine, signed by the server with the secret of your webhook. It reads the event log, so nothing is missed while this machine sleeps or the server is down. Forwarded events are not recorded as deliveries.',
    )
    .requiredOption('--forward-to <url>', 'URL of the receiver: localhost:3000/hook. Required.')
    .option('--as <destination>', 'stand in for this webhook or distribution (default: the newest)')
    .option('--secret <secret>', 'sign with this secret instead: whsec_…')
    .option('--since <when>', SINCE_TEXT)
    .option('--events <number>', 'exit after N events; exit code 1 if any was rejected')
    .option('--project <project>', PROJECT_TEXT)
    .addHelpText(
      'after',
      exampleText([
        'jeton listen --forward-to localhost:3000/hook',
        'jeton listen --forward-to localhost:3000/hook --as wh_… --since 1h',
        'jeton listen --forward-to localhost:3000/hook --since 1m --events 1   # in a script',
      ]),
    )
  addConnectionOptions(command).optionsGroup('Output').option('--json', 'one line of JSON per event')
  command.action((options) => listen(io, options))
}
