import type { FastifyRequest } from 'fastify'
import type { Scope } from '../../contract/scopes.ts'
import { type Guard, pathOf } from '../../platform/http/index.ts'
import { type AuthenticationDeps, readCredential } from '../tokens/index.ts'
import { type Allowed, authorizeCall, tryAuthorizeCall } from './authorize-call.ts'

/** Guards every route of `/v1` and `/client/v1`. */
export function createScopeGuard(deps: AuthenticationDeps): Guard<Scope> {
  const setCaller = (request: FastifyRequest, { key }: Allowed): void => {
    const { id, name, app_id, project_id: projectId } = key.row
    request.logNote = name
    request.projectId = projectId
    request.apiKey = { name, app_id }
    request.actor = { type: 'api_key', id, address: request.caller.ip, requestId: request.id }
  }
  return (request, scope) => {
    const description = `${request.method} ${pathOf(request.url)}`
    const credential = readCredential(request)
    const call = { credential, caller: request.caller, requiredScopes: [scope], description }
    const cached = tryAuthorizeCall(deps, call)
    if (!cached) return authorizeCall(deps, call).then((allowed) => setCaller(request, allowed))
    setCaller(request, cached)
  }
}
