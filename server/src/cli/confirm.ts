import type { ApiRequest } from './call-api.ts'
import { CommandFailure, EXIT, wrongUsage } from './exit.ts'
import type { Io } from './io.ts'
import type { Operation } from './operations.ts'
import type { Resource } from './pages.ts'
import type { Session } from './session.ts'

export const isDestructive = ({ verb }: Operation): boolean => verb === 'delete'

/** Said before anything is looked up: a script must not find out half-way. */
export function refuseUnattended(io: Io, yes: boolean): void {
  if (!yes && !io.ask)
    throw wrongUsage('This deletes for good and nobody can be asked here. Add --yes if you mean it.')
}

/**
 * Asks before something is deleted. Where the API wants the name repeated, so do we; after a `--yes` it is filled in.
 */
export async function confirmed(
  session: Session,
  operation: Operation,
  { request, yes }: { request: ApiRequest; yes: boolean },
): Promise<ApiRequest> {
  const repeatsName = operation.body?.properties?.name !== undefined
  if (yes && !repeatsName) return request
  const resource = (await session.call({ method: 'GET', path: request.path })).json as Resource
  const name = String(resource.name ?? resource.id)
  if (!yes) await askFor(session.io, { operation, name, repeatsName })
  return repeatsName ? { ...request, body: { name } } : request
}

async function askFor(
  io: Io,
  { operation, name, repeatsName }: { operation: Operation; name: string; repeatsName: boolean },
): Promise<void> {
  const what = `${operation.summary.replace(/;.*/, '')}: ${JSON.stringify(name)}. `
  const answer = await io.ask!(what + (repeatsName ? 'Type its name to go on: ' : 'Go on? [y/N] '))
  const agreed = repeatsName ? answer === name : /^y(es)?$/i.test(answer)
  if (!agreed) throw new CommandFailure('Nothing was deleted.', EXIT.refused)
}
