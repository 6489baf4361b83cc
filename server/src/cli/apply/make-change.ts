import type { ApiRequest, Session } from '../call-api.ts'
import { CommandFailure, EXIT } from '../exit.ts'
import type { Resource } from '../resolve.ts'
import { type Change, labelOf, type Noun } from './change.ts'
import type { Owner, SecretsFile } from './secrets-file.ts'
import { pathOf } from './server-state.ts'

const COLLECTIONS: Readonly<Record<Noun, string>> = {
  key: 'api-keys',
  webhook: 'webhooks',
  distribution: 'distributions',
}

export interface ChangeContext {
  readonly session: Session
  readonly secrets: SecretsFile
  /** Ids by name. A project that is created is added. */
  readonly projectIds: Map<string, string>
}

export const makesSecret = ({ action, noun }: Change): boolean =>
  noun !== 'project' && (action === 'create' || action === 'regenerate')

/** Makes one change. Returns the id of the resource. */
export async function makeChange(context: ChangeContext, change: Change): Promise<string> {
  const { session, projectIds } = context
  if (change.noun === 'project') {
    const { json } = await session.call({
      method: 'POST',
      path: '/management/v1/projects',
      body: change.body,
    })
    const id = String((json as Resource).id)
    projectIds.set(change.name, id)
    return id
  }
  const path = pathOf(projectIds.get(change.project)!, COLLECTIONS[change.noun])
  const { state, ...body } = change.body
  if (change.action === 'delete') await session.call({ method: 'DELETE', path: `${path}/${change.id}` })
  if (change.action === 'update' && Object.keys(body).length > 0)
    await session.call({
      method: change.noun === 'key' ? 'PATCH' : 'PUT',
      path: `${path}/${change.id}`,
      body,
    })
  const id = makesSecret(change) ? await withSecret(context, change, { path, body }) : change.id!
  if (state !== undefined && !(state === 'active' && change.action === 'create'))
    await session.call({ method: 'POST', path: `${path}/${id}/${state === 'blocked' ? 'block' : 'unblock'}` })
  return id
}

function secretRequest(change: Change, { path, body }: { path: string; body: object }): ApiRequest {
  const method = 'POST'
  if (change.action === 'regenerate')
    return change.noun === 'key'
      ? { method, path: `${path}/${change.id}/regenerate` }
      : { method, path: `${path}/${change.id}/rotate-secret`, body: { overlap_seconds: 0 } }
  // Names of webhooks are always unique.
  return { method, path, body, ...(change.noun !== 'webhook' && { query: { unique_name: 'true' } }) }
}

/** Sends a request that makes a secret, between the two lines in the file of secrets. */
async function withSecret(
  { session, secrets }: ChangeContext,
  change: Change,
  target: { path: string; body: object },
): Promise<string> {
  const { project, noun, name } = change
  const owner: Owner = { server: session.connection.url, project, noun: noun as Noun, name }
  const at = () => new Date(session.io.now()).toISOString()
  secrets.add(owner, { at: at(), outcome: 'pending' })
  let made: Resource
  try {
    made = (await session.call(secretRequest(change, target))).json as Resource
  } catch (error) {
    // Only a clear refusal says that no secret was made.
    if (error instanceof CommandFailure && error.status !== undefined && error.status < 500)
      secrets.add(owner, { at: at(), outcome: 'refused' })
    throw error
  }
  const secret: Record<string, string> =
    noun === 'key'
      ? { app_id: String(made.app_id), app_token: String(made.app_token) }
      : { secret: String(made.secret) }
  try {
    secrets.add(owner, { at: at(), outcome: 'created', id: String(made.id), ...secret })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new CommandFailure(
      `The secret of ${labelOf(change)} is lost: ${secrets.path} cannot be written (${code}).`,
      EXIT.refused,
    )
  }
  return String(made.id)
}
