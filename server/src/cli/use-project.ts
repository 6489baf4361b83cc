import type { ConnectionOptions } from './connection.ts'
import { CommandFailure, EXIT } from './exit.ts'
import { type Io, remark } from './io.ts'
import { saveDefaultProject } from './profile.ts'
import { resolveReference } from './resolve.ts'
import { openSession } from './session.ts'

export async function useProject(io: Io, typed: string, options: ConnectionOptions): Promise<void> {
  const session = openSession(io, options)
  const { url, keys } = session.connection
  const id = await resolveReference(session, { noun: 'project', typed })
  const path = `/management/v1/projects/${encodeURIComponent(id)}`
  const { name } = (await session.call({ method: 'GET', path })).json as { name: string }
  if (!saveDefaultProject(url, id, io.env))
    throw new CommandFailure(
      `There is no profile of ${url} to save it in. Make one: jeton login --url ${url}   Or set JETON_PROJECT=${id}`,
      EXIT.credentials,
    )
  remark(io, `Commands to ${url} now work on project ${JSON.stringify(name)} (${id}).`)
  if (io.env.JETON_PROJECT) remark(io, 'JETON_PROJECT is set in this shell and takes precedence over it.')
  if (!keys[id])
    remark(
      io,
      `It has no saved API key. To issue tokens and redeem here: jeton key create --name command-line --permissions api --save${session.sameFlags}`,
    )
}
