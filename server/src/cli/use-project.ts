import type { ConnectionOptions } from './connection.ts'
import { CommandFailure, EXIT } from './exit.ts'
import { type Io, remark } from './io.ts'
import { saveDefaultProject } from './profile.ts'
import { resolveReference } from './resolve.ts'
import { openSession } from './session.ts'

export async function useProject(io: Io, typed: string, options: ConnectionOptions): Promise<void> {
  const session = openSession(io, options)
  const id = await resolveReference(session, { noun: 'project', typed })
  const { name } = (
    await session.call({ method: 'GET', path: `/management/v1/projects/${encodeURIComponent(id)}` })
  ).json as { name: string }
  if (!saveDefaultProject(session.connection.url, id, io.env))
    throw new CommandFailure(
      `There is no profile of ${session.connection.url} to keep it in. Make one: jeton login --url ${session.connection.url}   Or set JETON_PROJECT=${id}`,
      EXIT.credentials,
    )
  remark(io, `Commands to ${session.connection.url} now work on project ${JSON.stringify(name)} (${id}).`)
}
