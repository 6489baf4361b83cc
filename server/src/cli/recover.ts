import type { Answer, ApiRequest, Session } from './call-api.ts'
import { CommandFailure, EXIT } from './exit.ts'
import { stepLines } from './progress.ts'

interface RecoveryBody {
  readonly ids?: unknown
  readonly dry_run?: boolean
  readonly limit?: number
  readonly cursor?: string
}

interface Recovered {
  readonly reopened: number
  readonly held: number
  readonly failing_left_out: number
  readonly next_cursor: string | null
}

/** Takes a second or two, so that Ctrl-C has an effect soon. */
const BATCH = 5_000

/** Counts the deliveries, then makes them due in batches, until the last one or Ctrl-C. */
export async function recoverInBatches(session: Session, request: ApiRequest): Promise<Answer> {
  const body = request.body as RecoveryBody
  // One call: few deliveries, nothing to change, or batches that the caller makes.
  if (body.ids || body.dry_run || body.limit !== undefined || body.cursor !== undefined)
    return session.call(request)
  const counted = (await session.call({ ...request, body: { ...body, dry_run: true } })).json as Recovered
  return counted.reopened > BATCH ? recoverEach(session, request, counted.reopened) : session.call(request)
}

async function recoverEach(session: Session, request: ApiRequest, of: number): Promise<Answer> {
  const { stopped } = session.io.goLive()
  const steps = stepLines(session.io, { to: 'stderr', of: 0, isTransient: true })
  let answer: Answer | undefined
  let total: Recovered | undefined
  for (
    let cursor: string | null | undefined;
    cursor !== null && !stopped.aborted;
    cursor = total.next_cursor
  ) {
    const done = total?.reopened ?? 0
    steps.begin(`${countOf(done, of)}  ${Math.floor((done / of) * 100)} %`)
    try {
      const body = { ...(request.body as RecoveryBody), limit: BATCH, ...(cursor && { cursor }) }
      answer = await session.call({ ...request, body })
    } catch (error) {
      steps.fail()
      throw failed(error, countOf(done, of))
    }
    total = sumOf(total, answer.json as Recovered)
    steps.end(countOf(total.reopened, of))
  }
  if (total?.next_cursor !== null)
    throw new CommandFailure(`Stopped: ${countOf(total?.reopened ?? 0, of)}. ${AGAIN}`, EXIT.refused)
  return { ...answer!, text: JSON.stringify(total), json: total }
}

const AGAIN = 'Run the same command again for the rest.'

const countOf = (done: number, of: number): string =>
  `${done.toLocaleString('en')} of ${of.toLocaleString('en')} deliveries are due`

const sumOf = (before: Recovered | undefined, next: Recovered): Recovered => ({
  ...next,
  reopened: next.reopened + (before?.reopened ?? 0),
  held: next.held + (before?.held ?? 0),
  failing_left_out: next.failing_left_out + (before?.failing_left_out ?? 0),
})

function failed(error: unknown, count: string): unknown {
  if (!(error instanceof CommandFailure)) return error
  return new CommandFailure(`${error.message}\n${count}. ${AGAIN}`, error.exitCode, error.status)
}
