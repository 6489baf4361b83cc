import type { Command } from 'commander'
import { openSession, refused } from '../call-api.ts'
import { addConnectionOptions, type ConnectionOptions, plainUrl } from '../connection.ts'
import { CommandFailure, EXIT, ExitWith } from '../exit.ts'
import { exampleText } from '../format.ts'
import { type Io, printLine, remark } from '../io.ts'
import { startReceiver } from '../live/local-receiver.ts'
import { eventSteps } from './event-steps.ts'
import { createReport, type Report, resultJson, type StepResult } from './report.ts'
import { tokenSteps } from './token-steps.ts'
import { CheckFailed, type Exchange, type Found, type Step, TourProject } from './tour-project.ts'

interface TourOptions extends ConnectionOptions {
  readonly apiUrl?: string
  readonly verbose?: boolean
  readonly json?: boolean
}

export function addTour(program: Command, io: Io): void {
  const command = program
    .command('tour')
    .summary('check the running server, in about a second')
    .description(
      'Checks tokens, limits, redemptions and deliveries of the running server, in a temporary project that it deletes afterwards. Exit code 1 if a check fails.',
    )
    .option('--verbose', 'print what each check proves, every request as curl, every response')
    .option('--json', 'JSON output')
    .addHelpText(
      'after',
      exampleText(['jeton tour', 'jeton tour --verbose | less', 'jeton tour --json | jq .as_promised']),
    )
  addConnectionOptions(command).option(
    '--api-url <url>',
    'URL for API clients, if JETON_MANAGEMENT_PORT is set',
  )
  command.action((options) => tour(io, options))
}

async function tour(io: Io, options: TourOptions): Promise<void> {
  const { connection } = openSession(io, options)
  const report = createReport(io, options)
  const exchanges: Exchange[] = []
  const receiver = await startReceiver()
  const project = new TourProject({
    connection,
    apiUrl: options.apiUrl ? plainUrl(options.apiUrl) : connection.apiUrl,
    live: io.goLive(),
    receiver,
    onExchange(exchange) {
      exchanges.push(exchange)
      report.exchange(exchange)
    },
  })
  try {
    const started = performance.now()
    report.begin(`Jeton tour of ${connection.url} in a temporary project`)
    const name = await createProject(project)
    const steps = [...tokenSteps(project), ...eventSteps(project)]
    const results = await runSteps(steps, { project, report, exchanges })
    const error = await project.delete(name)
    const summary = {
      name,
      error,
      results,
      of: steps.length,
      ms: performance.now() - started,
      via: project.via,
    }
    if (options.json) printLine(io, JSON.stringify(summaryJson(connection.url, summary), null, 2))
    report.end(lastLines(summary, options))
    if (error)
      remark(io, `The project was not deleted: ${error}\nDelete it later: jeton project delete '${name}'`)
    if (passedIn(summary) < steps.length || error) throw new ExitWith(EXIT.refused)
  } finally {
    await receiver.close()
  }
}

/** Returns the name of the project. A failure is reported like in any other command. */
async function createProject(project: TourProject): Promise<string> {
  const name = `Tour ${new Date().toISOString().slice(0, 19).replace('T', ' ')} ${process.pid}`
  const request = { method: 'POST', path: '/management/v1/projects', body: { name } }
  const { response, text, body } = await project.send(request)
  if (!response.ok) throw refused(response, text, project.parts.connection)
  project.id = String(body.id)
  return name
}

interface Running {
  readonly project: TourProject
  readonly report: Report
  /** Filled by the project; each step takes its own. */
  readonly exchanges: Exchange[]
}

/** Runs the steps until the end, or until the server is unreachable or Ctrl-C is pressed. */
async function runSteps(
  steps: readonly Step[],
  { project, report, exchanges }: Running,
): Promise<StepResult[]> {
  const { stopped } = project.parts.live
  const results: StepResult[] = []
  exchanges.length = 0
  for (const [index, step] of steps.entries()) {
    report.beginStep(index + 1, step)
    const started = performance.now()
    const { found, failure, isLast } = await runStep(step, stopped)
    const ms = performance.now() - started
    const result = { step, found, failure, ms, exchanges: exchanges.splice(0) }
    if (found || !stopped.aborted) results.push(result)
    report.endStep(result)
    if (isLast || stopped.aborted) break
  }
  return results
}

async function runStep(
  step: Step,
  stopped: AbortSignal,
): Promise<{ found?: Found; failure?: string; isLast?: boolean }> {
  try {
    return { found: await step.run() }
  } catch (error) {
    const failure = (error as Error).message.split('\n', 1)[0]!
    if (stopped.aborted) return { failure: 'stopped' }
    if (error instanceof CheckFailed) return { failure }
    // The server is unreachable, so the next steps would fail too.
    if (error instanceof CommandFailure) return { failure, isLast: true }
    throw error
  }
}

interface Summary {
  readonly name: string
  /** Why the project was not deleted. */
  readonly error: string | undefined
  readonly results: readonly StepResult[]
  readonly of: number
  readonly ms: number
  readonly via: TourProject['via']
}

const passedIn = ({ results }: Summary): number => results.filter(({ found }) => found).length

function lastLines(summary: Summary, { verbose }: TourOptions): string[] {
  const { error, results, of, ms, via } = summary
  const skipped = results.length < of ? `, ${of - results.length} not run` : ''
  const deleted = error ? '' : ' The project is deleted.'
  const lines = [
    `${passedIn(summary)} of ${of} checks passed${skipped} (${(ms / 1000).toFixed(1)} s).${deleted}`,
  ]
  if (via === 'forwarded')
    lines.push(
      '',
      'This server sends only to public addresses, so the tour forwarded the event itself, as `jeton listen` does.',
      'To have the server send it: JETON_WEBHOOK_ALLOW=127.0.0.0/8 npm start',
    )
  if (via === 'sent') lines.push('', 'The server sent the event: JETON_WEBHOOK_ALLOW includes this machine.')
  if (!verbose) lines.push('', 'Details of each step, with every request:', 'jeton tour --verbose')
  return lines
}

/** Programs rely on these names and values. */
const summaryJson = (url: string, summary: Summary) => ({
  as_promised: passedIn(summary),
  of: summary.of,
  duration_ms: Math.round(summary.ms),
  url,
  project: summary.name,
  project_deleted: !summary.error,
  events: summary.via === 'forwarded' ? 'brought' : (summary.via ?? null),
  steps: summary.results.map(resultJson),
})
