import type { Answer, Session } from './call-api.ts'
import { CommandFailure } from './exit.ts'
import type { Options } from './fields.ts'
import { remark } from './io.ts'
import { chosenProject, type List, projectId, projectName, type Resource, wholeList } from './resolve.ts'

interface Named {
  readonly type: string
  readonly id: string
}

interface Entry extends Resource {
  readonly actor: Named
  readonly subject: Named
  readonly project_id: string | null
  readonly before: Resource | null
  readonly after: Resource | null
}

type Names = ReadonlyMap<string, string>

/** The audit log with names. An entry has the name of its subject; operators, projects and keys are looked up. */
export async function auditWithNames(session: Session, answer: Answer): Promise<Answer> {
  const list = answer.json as List
  const names = await namesFor(session, list.data as readonly Entry[])
  const data = (list.data as readonly Entry[]).map((entry) => ({
    ...entry,
    actor: names.get(entry.actor.id) ?? entry.actor.id,
    subject: `${entry.subject.type} ${nameOf(entry) ?? names.get(entry.subject.id) ?? entry.subject.id}`,
    project_id: entry.project_id && (names.get(entry.project_id) ?? entry.project_id),
  }))
  return { ...answer, json: { ...list, data } }
}

const nameOf = ({ before, after }: Entry): string | undefined =>
  (after?.name ?? before?.name) as string | undefined

async function namesFor(session: Session, entries: readonly Entry[]): Promise<Names> {
  const projects = new Set(
    entries.flatMap(({ actor, project_id }) => (actor.type === 'api_key' && project_id ? [project_id] : [])),
  )
  const lists = ['operators', 'projects', ...[...projects].map((id) => `projects/${id}/api-keys`)]
  const names = new Map<string, string>()
  for (const path of lists)
    for (const { id, name } of await listAt(session, `/management/v1/${path}`))
      names.set(String(id), String(name))
  return names
}

/** Returns an empty list if it cannot be read, for example of a deleted project. Its entries are shown with ids. */
async function listAt(session: Session, path: string): Promise<readonly Resource[]> {
  try {
    return (await wholeList(session, { method: 'GET', path })).data
  } catch (error) {
    if (error instanceof CommandFailure) return []
    throw error
  }
}

/** Notes that the list covers one project, because changes to operators are not in it. */
export async function nameListedProject(session: Session, options: Options): Promise<void> {
  const { io, sameFlags } = session
  if (!io.isTTY || options.allProjects || chosenProject(session) === undefined) return
  const project = await projectName(session, await projectId(session))
  const all = `jeton audit list --all-projects${sameFlags.replace(/ --project .*/, '')}`
  remark(io, `Project ${JSON.stringify(project)} only. All projects: ${all}`)
}
