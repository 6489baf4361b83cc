import { basename, dirname, extname, join } from 'node:path'
import { openSession, type Session } from '../call-api.ts'
import { type ConnectionOptions, nameServer } from '../connection.ts'
import { CommandFailure, EXIT, ExitWith } from '../exit.ts'
import { plain, shellWord } from '../format.ts'
import { type Io, printLine, remark } from '../io.ts'
import { stepLines } from '../progress.ts'
import { refuseUnattended } from '../resource-request.ts'
import { type Change, labelOf, type Match, type Plan } from './change.ts'
import type { ProjectEntry } from './declaration.ts'
import { makeChange, makesSecret } from './make-change.ts'
import { makePlan } from './plan.ts'
import { countedNouns, listed, planJson, printNotes, printPlan } from './print-plan.ts'
import { readDeclaration } from './read-declaration.ts'
import { SecretsFile } from './secrets-file.ts'

export interface ApplyOptions extends ConnectionOptions {
  readonly file: string
  readonly secrets?: string
  readonly plan?: boolean
  readonly prune?: boolean
  readonly regenerate?: boolean
  readonly yes?: boolean
  readonly json?: boolean
}

interface Run {
  readonly io: Io
  readonly options: ApplyOptions
  readonly session: Session
  readonly projects: readonly ProjectEntry[]
  readonly secrets: SecretsFile
}

/** Makes the server match the file: compares, shows the difference, changes what differs, and compares again. */
export async function apply(io: Io, options: ApplyOptions): Promise<void> {
  if (options.prune && !options.plan) refuseUnattended(io, options.yes === true)
  const session = openSession(io, options)
  const projects = await readDeclaration(io, { path: options.file, catalogue: session.catalogue })
  const secrets = new SecretsFile(options.secrets ?? secretsBeside(options.file))
  const run: Run = { io, options, session, projects, secrets }
  const plan = await planWith(run)
  if (!options.json) printPlan(io, plan)
  printNotes(io, plan)
  if (options.plan) return finishPlan(run, plan)
  if (plan.changes.length > 0) await makeChanges(run, plan)
  else if (options.json) printLine(io, JSON.stringify(planJson(plan, 0)))
  else remark(io, 'Nothing to change.')
  finish(run, plan)
}

/** `jeton.secrets.jsonl` beside `jeton.yaml`. */
const secretsBeside = (file: string): string =>
  file === '-' ? 'jeton.secrets.jsonl' : join(dirname(file), `${basename(file, extname(file))}.secrets.jsonl`)

async function planWith({ session, projects, options, ...run }: Run): Promise<Plan> {
  const plan = await makePlan(session, projects, { prune: options.prune === true })
  if (!options.regenerate) return plan
  const lost = lostSecrets({ session, ...run }, plan).map(
    ({ noun, project, name, id }): Change => ({
      action: 'regenerate',
      noun,
      project,
      name,
      id,
      fields: [],
      body: {},
    }),
  )
  return { ...plan, changes: [...lost, ...plan.changes] }
}

const ownerOf = ({ connection }: Session, { noun, project, name }: Match) => ({
  server: connection.url,
  project,
  noun,
  name,
})

/** Resources whose secret was made by a run that ended before it could write it. */
const lostSecrets = ({ session, secrets }: Pick<Run, 'session' | 'secrets'>, { matches }: Plan): Match[] =>
  matches.filter((match) => secrets.isLost(ownerOf(session, match)))

function finishPlan(run: Run, plan: Plan): void {
  const { io, options } = run
  if (options.json) printLine(io, JSON.stringify(planJson(plan, 0)))
  else
    remark(
      io,
      plan.changes.length > 0 ? `${countedNouns(plan.changes)} would be changed.` : 'Nothing to change.',
    )
  finish(run, plan)
  if (plan.changes.length > 0) throw new ExitWith(EXIT.differs)
}

async function makeChanges(run: Run, plan: Plan): Promise<void> {
  const { io, options, session, secrets } = run
  const deletions = plan.changes.filter(({ action }) => action === 'delete')
  nameServer(io, session.connection)
  if (deletions.length > 0 && !options.yes) await askToDelete(io, deletions)
  if (plan.changes.some(makesSecret)) secrets.open()
  const done = await makeEach(run, plan)
  secrets.close()
  if (options.json) printLine(io, JSON.stringify(planJson(plan, done.length)))
  const written = done.filter(makesSecret)
  if (written.length > 0)
    remark(io, `Secrets of ${countedNouns(written)} are in ${secrets.path}. Move them to your secret store.`)
  if (done.length < plan.changes.length) {
    remark(
      io,
      `Stopped: ${done.length} of ${plan.changes.length} changes are made. Apply again to make the rest.`,
    )
    throw new ExitWith(EXIT.refused)
  }
  await verify(run)
}

async function askToDelete(io: Io, deletions: readonly Change[]): Promise<void> {
  const answer = await io.ask!(
    `Delete ${countedNouns(deletions)}? What stops working is listed above. [y/N] `,
  )
  if (!/^y(es)?$/i.test(answer)) throw new CommandFailure('Nothing was changed.', EXIT.refused)
}

/** Makes the changes in order, until the first failure or Ctrl-C. Returns those that are made. */
async function makeEach(
  { io, options, session, secrets }: Run,
  { changes, projectIds }: Plan,
): Promise<Change[]> {
  const live = io.goLive()
  const context = { session, secrets, projectIds: new Map(projectIds) }
  const steps = stepLines(io, { to: options.json ? 'stderr' : 'stdout', of: changes.length })
  const done: Change[] = []
  for (const change of changes) {
    if (live.stopped.aborted) break
    steps.begin(`${change.action} ${plain(labelOf(change))}`)
    try {
      const id = await makeChange(context, change)
      done.push(change)
      steps.end(`${PAST[change.action]} ${plain(labelOf(change))} (${id})`)
    } catch (error) {
      steps.fail()
      secrets.close()
      throw failed(error, change, { done: done.length, of: changes.length })
    }
  }
  return done
}

const PAST = {
  create: 'created',
  update: 'updated',
  regenerate: 'replaced the secret of',
  delete: 'deleted',
} as const

function failed(error: unknown, change: Change, { done, of }: { done: number; of: number }): unknown {
  if (!(error instanceof CommandFailure)) return error
  const meanwhile =
    error.status === 404 || error.status === 409 ? ' Another operator may have changed it meanwhile.' : ''
  return new CommandFailure(
    `Failed: ${change.action} ${plain(labelOf(change))}. ${error.message}\n${done} of ${of} changes are made.${meanwhile} Apply again to make the rest.`,
    error.exitCode,
    error.status,
  )
}

/**
 * Compares again. If several applies run at once, the last one to compare sees the final state: it matches its file, or
 * this reports the conflict.
 */
async function verify({ options, session, projects }: Run): Promise<void> {
  const { changes } = await makePlan(session, projects, { prune: options.prune === true })
  if (changes.length === 0) return
  throw new CommandFailure(
    `Conflict: another operator changed this meanwhile: ${listed(changes.map(labelOf))}. Compare: jeton apply -f ${shellWord(options.file)} --plan${session.sameFlags}`,
    EXIT.refused,
  )
}

/** Reports secrets that are lost or not in the file, and decides the exit code. */
function finish(run: Run, plan: Plan): void {
  const { io, options, session, secrets } = run
  const lost = lostSecrets(run, plan)
  const unknown = plan.matches.filter(
    (match) => !secrets.has(ownerOf(session, match)) && !lost.includes(match),
  )
  if (unknown.length > 0)
    remark(
      io,
      `${secrets.path} has no secret of: ${listed(unknown.map(labelOf))}. If nobody has it, replace it: jeton ${unknown[0]!.noun} ${unknown[0]!.noun === 'key' ? 'regenerate' : 'rotate'} ${unknown[0]!.id} --project ${shellWord(unknown[0]!.project)}${session.sameFlags}`,
    )
  if (lost.length > 0)
    throw new CommandFailure(
      `Lost secret of: ${listed(lost.map(labelOf))}. An apply was interrupted before it could write it to ${secrets.path}.\nReplace it: jeton apply -f ${shellWord(options.file)} --regenerate${session.sameFlags}\nIf somebody replaced it since, delete the line.`,
      EXIT.refused,
    )
  if (plan.missingCampaigns.length > 0) throw new ExitWith(EXIT.refused)
}
