import { type ConnectionOptions, plainUrl } from '../connection.ts'
import { CommandFailure, EXIT, ExitWith } from '../exit.ts'
import { type Io, type Live, printLine, remark } from '../io.ts'
import { openSession, type Session } from '../session.ts'
import { DELIVERY_STEPS } from './delivery-steps.ts'
import { isOnThisMachine } from './destination.ts'
import { KEY_STEPS } from './key-steps.ts'
import { NotAsPromised } from './promised.ts'
import { startTourReceiver } from './receiver.ts'
import { REDEMPTION_STEPS } from './redemption-steps.ts'
import { briefReport, type Report, silentReport, type Tried, triedJson, verboseReport } from './report.ts'
import { type Destination, Stage } from './stage.ts'
import type { Seen, Step } from './step.ts'
import { TOKEN_STEPS } from './token-steps.ts'
import { type Exchange, Wire } from './wire.ts'

interface TourOptions extends ConnectionOptions {
  readonly apiUrl?: string
  readonly verbose?: boolean
  readonly json?: boolean
}

const STEPS: readonly Step[] = [...TOKEN_STEPS, ...KEY_STEPS, ...REDEMPTION_STEPS, ...DELIVERY_STEPS]

/** Shows what is promised, on a project of its own that it deletes afterwards. Anything else than promised is exit code 1. */
export async function tour(io: Io, options: TourOptions): Promise<void> {
  const session = openSession(io, options)
  const live = io.goLive()
  const report = reportFor(io, options)
  const guide = new Guide({ session, live, report, apiUrl: apiUrlOf(session, options) })
  const started = performance.now()
  const done = await guide.goRound()
  const took = performance.now() - started
  if (options.json) printLine(io, JSON.stringify(jsonOf(session, done, took), null, 2))
  report.end(lastLines(done, took, options))
  if (done.leftOver) remark(io, done.leftOver)
  if (!isWell(done)) throw new ExitWith(EXIT.refused)
}

/** Where API clients call: as told, as kept by the first start, else where the operators do. */
function apiUrlOf({ connection }: Session, { apiUrl }: TourOptions): string {
  return apiUrl ? plainUrl(apiUrl) : connection.apiUrl
}

function reportFor(io: Io, { json, verbose }: TourOptions): Report {
  if (json) return silentReport
  return verbose ? verboseReport(io) : briefReport(io)
}

interface Done {
  readonly tried: readonly Tried[]
  readonly project: string
  readonly way: Destination['way'] | undefined
  /** What to do where the project could not be deleted. */
  readonly leftOver: string | undefined
}

const heldOf = ({ tried }: Done): number => tried.filter(({ held }) => held).length
const isWell = (done: Done): boolean => heldOf(done) === STEPS.length && !done.leftOver

interface Going {
  readonly session: Session
  readonly live: Live
  readonly report: Report
  readonly apiUrl: string
}

class Guide {
  readonly #going: Going
  readonly #wire: Wire
  #exchanges: Exchange[] = []

  constructor(going: Going) {
    this.#going = going
    const { session, live, report, apiUrl } = going
    const heard = (exchange: Exchange) => {
      this.#exchanges.push(exchange)
      report.heard(exchange)
    }
    this.#wire = new Wire({ connection: session.connection, apiUrl, live, heard })
  }

  async goRound(): Promise<Done> {
    const { session, live, report } = this.#going
    const { url } = session.connection
    const name = `Tour ${new Date().toISOString().slice(0, 19).replace('T', ' ')} ${process.pid}`
    report.begin(`  Jeton tour of ${url}, in a project of its own`)
    const { body } = await this.#wire.first({
      method: 'POST',
      path: '/management/v1/projects',
      body: { name },
    })
    const project = { id: String(body.id), name }
    const receiver = await startTourReceiver()
    const isServerHere = isOnThisMachine(url)
    const stage = new Stage({ isServerHere, wire: this.#wire, live, receiver, project })
    const tried = await this.#tryAll(stage)
    await receiver.close()
    const { destination } = stage
    const way = destination && 'way' in destination ? destination.way : undefined
    return { tried, project: name, way, leftOver: await this.#delete(project) }
  }

  async #tryAll(stage: Stage): Promise<Tried[]> {
    const tried: Tried[] = []
    let lost = false
    for (const [index, step] of STEPS.entries()) {
      if (lost || stage.live.stopped.aborted) break
      this.#going.report.beginStep(index + 1, step)
      const one = await this.#tryOne(stage, step)
      lost = one.lost
      if (one.held || !stage.live.stopped.aborted) tried.push(one)
      this.#going.report.endStep(one)
    }
    return tried
  }

  async #tryOne(stage: Stage, step: Step): Promise<Tried & { lost: boolean }> {
    this.#exchanges = []
    const started = performance.now()
    const done = (held: boolean, seen: Seen, lost = false) => ({
      ...{ step, held, seen, lost },
      ms: performance.now() - started,
      exchanges: this.#exchanges,
    })
    try {
      return done(true, await step.run(stage))
    } catch (error) {
      if (stage.live.stopped.aborted) return done(false, { result: 'stopped', proof: '' }, true)
      if (error instanceof NotAsPromised) return done(false, { result: error.message, proof: '' })
      if (!(error instanceof CommandFailure)) throw error
      // The server is gone: what comes would only say the same.
      return done(false, { result: error.message.split('\n', 1)[0]!, proof: '' }, true)
    }
  }

  /** Also after a failure, and after Ctrl-C; the sentence to say where it could not be done. */
  async #delete({ id, name }: { id: string; name: string }): Promise<string | undefined> {
    const why = await this.#wire
      .last({ method: 'DELETE', path: `/management/v1/projects/${id}`, body: { name } })
      .then(
        ({ status }) => (status < 400 ? undefined : `answered ${status}`),
        (error: Error) => error.message.split('\n', 1)[0],
      )
    return why && `Its project could not be deleted: ${why}\nLater: jeton project delete '${name}'`
  }
}

function lastLines(done: Done, took: number, { verbose }: TourOptions): string[] {
  const held = heldOf(done)
  const untried = STEPS.length - done.tried.length
  const rest = untried > 0 ? `, ${untried} not tried` : ''
  const gone = done.leftOver ? '' : ' The project is deleted.'
  const lines = [`${held} of ${STEPS.length} as promised${rest}, in ${(took / 1000).toFixed(1)} s.${gone}`]
  if (done.way === 'brought')
    lines.push(
      '',
      'The event was brought here as `jeton listen` does it: this server sends to public addresses only.',
      'To see it sent: JETON_WEBHOOK_ALLOW=127.0.0.0/8 npm start',
    )
  if (done.way === 'sent') lines.push('', 'The event was sent here: JETON_WEBHOOK_ALLOW lists this machine.')
  if (!verbose) lines.push('', 'What each line proves, with every request:', 'npx jeton tour --verbose')
  return lines
}

function jsonOf({ connection }: Session, done: Done, took: number) {
  return {
    as_promised: heldOf(done),
    of: STEPS.length,
    duration_ms: Math.round(took),
    url: connection.url,
    project: done.project,
    project_deleted: !done.leftOver,
    events: done.way ?? null,
    steps: done.tried.map(triedJson),
  }
}
