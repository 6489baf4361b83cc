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
import { CheckFailed, type Exchange, type Step, TourProject } from './tour-project.ts'

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
      exampleText(['jeton tour', 'jeton tour --verbose | less', 'jeton tour --json | jq .passed']),
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
    const passed = results.filter(({ found }) => found).length
    const { via } = project
    const ms = performance.now() - started
    const outcome: Outcome = { name, error, results, passed, total: steps.length, ms, via }
    if (options.json) printLine(io, JSON.stringify(outcomeJson(connection.url, outcome), null, 2))
    report.end(lastLines(outcome, options))
    if (error)
      remark(io, `The project was not deleted: ${error}\nDelete it later: jeton project delete '${name}'`)
    if (passed < steps.length || error) throw new ExitWith(EXIT.refused)
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
    const result = { step, found, failure, ms: performance.now() - started, exchanges: exchanges.splice(0) }
    if (found || !stopped.aborted) results.push(result)
    report.endStep(result)
    if (isLast || stopped.aborted) break
  }
  return results
}

async function runStep(
  step: Step,
  stopped: AbortSignal,
): Promise<Pick<StepResult, 'found' | 'failure'> & { isLast?: boolean }> {
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

interface Outcome {
  readonly name: string
  /** Why the project was not deleted. */
  readonly error: string | undefined
  readonly results: readonly StepResult[]
  readonly passed: number
  readonly total: number
  readonly ms: number
  readonly via: TourProject['via']
}

const VIA = {
  sent: ['The server sent the event: JETON_WEBHOOK_ALLOW includes this machine.'],
  forwarded: [
    'This server sends only to public addresses, so the tour forwarded the event itself, as `jeton listen` does.',
    'To have the server send it: JETON_WEBHOOK_ALLOW=127.0.0.0/8 npm start',
  ],
}

function lastLines({ error, results, passed, total, ms, via }: Outcome, { verbose }: TourOptions): string[] {
  const skipped = results.length < total ? `, ${total - results.length} not run` : ''
  const deleted = error ? '' : ' The project is deleted.'
  return [
    `${passed} of ${total} checks passed${skipped} (${(ms / 1000).toFixed(1)} s).${deleted}`,
    ...(via ? ['', ...VIA[via]] : []),
    ...(verbose ? [] : ['', 'Details of each step, with every request:', 'jeton tour --verbose']),
  ]
}

/** Programs rely on these names and values. */
const outcomeJson = (url: string, { passed, total, ms, name, error, via, results }: Outcome) => ({
  passed,
  total,
  duration_ms: Math.round(ms),
  url,
  project: name,
  project_deleted: !error,
  events: via ?? null,
  steps: results.map(resultJson),
})
