import type { Answer, ApiRequest } from './call-api.ts'
import { CommandFailure, EXIT } from './exit.ts'
import { remark } from './io.ts'
import type { List, Resource } from './pages.ts'
import { projectName } from './resolve.ts'
import type { Session } from './session.ts'
import { shellWord } from './shell-word.ts'

/** Commands find a key by its name, so two of one name could no longer be told apart. The API allows them. */
export async function refuseNameInUse(session: Session, { path, body }: ApiRequest): Promise<void> {
  const { name } = body as { name: string }
  const { data } = (await session.call({ method: 'GET', path, query: { name } })).json as List
  const [existing] = data
  if (!existing) return
  const again = `jeton key regenerate ${shellWord(name)}${session.sameFlags}`
  throw new CommandFailure(
    `The project has an API key named ${JSON.stringify(name)} already (${existing.id}). Choose another name, or give that key a new secret: ${again}`,
    EXIT.refused,
  )
}

export async function nameProject(session: Session, { json }: Answer): Promise<void> {
  const { name, project_id } = json as Resource
  const project = await projectName(session, String(project_id))
  remark(session.io, `Created API key ${JSON.stringify(name)} in project ${JSON.stringify(project)}.`)
}
