import type { LinkProps } from '@tanstack/react-router'
import type { Role } from '../session/session.tsx'

/** A check that failed, of a refused request or of a call that was checked here. */
export interface Failure {
  readonly step: string
  readonly projectId: string
  readonly keyId: string | null
  readonly address: string | null
  readonly requiredScope: string | null
  /** Present ones of the key. If they cover the scope, the client must request a token with it. */
  readonly permissions: readonly string[]
}

/** The page where the failure can be fixed. */
export interface Fix {
  readonly label: string
  readonly link: LinkProps
}

/** Cover all others. A path that no scope names asks for them, and is probably misspelt. */
const WILDCARDS: readonly string[] = ['api', 'client_api']

interface Change {
  readonly change?: 'permissions' | 'addresses' | 'limit' | 'secret'
  readonly add?: string
}

function openKey({ projectId, keyId }: Failure, label: string, search: Change = {}): Fix | undefined {
  if (keyId === null) return undefined
  const to = '/projects/$projectId/api-keys/$keyId'
  return { label, link: { to, params: { projectId, keyId }, search } as LinkProps }
}

const openPage = (to: string, label: string, more: object = {}): Fix => ({
  label,
  link: { to, ...more } as LinkProps,
})

const allowAddress = (failure: Failure) =>
  failure.address === null
    ? openKey(failure, 'Change addresses', { change: 'addresses' })
    : openKey(failure, `Allow ${failure.address}`, { change: 'addresses', add: failure.address })

function allowScope(failure: Failure): Fix | undefined {
  const { requiredScope: scope, permissions } = failure
  if (scope === null || WILDCARDS.includes(scope))
    return openKey(failure, 'Change permissions', { change: 'permissions' })
  const wildcard = scope.startsWith('client_') ? 'client_api' : 'api'
  if (permissions.some((held) => held === scope || held === wildcard)) return undefined
  return openKey(failure, `Allow ${scope}`, { change: 'permissions', add: scope })
}

const rotate = (failure: Failure) => openKey(failure, 'Rotate secret', { change: 'secret' })

/** By the name of the check. These change a key. */
const FOR_EDITORS: Readonly<Record<string, (failure: Failure) => Fix | undefined>> = {
  scope_insufficient: allowScope,
  permissions: allowScope,
  address_not_allowed: allowAddress,
  bearer_address_not_allowed: allowAddress,
  address: allowAddress,
  key_limit: (failure) => openKey(failure, 'Change its limit', { change: 'limit' }),
  secret_wrong: rotate,
  secret_replaced: rotate,
  key_blocked: (failure) => openKey(failure, 'Unblock key'),
  key_active: (failure) => openKey(failure, 'Unblock key'),
}

const FOR_ADMINS: Readonly<Record<string, Fix>> = {
  management_address: openPage('/system', 'Show setting', { search: { setting: 'JETON_MANAGEMENT_ALLOW' } }),
  session_origin: openPage('/system', 'Show setting', { search: { setting: 'JETON_TRUSTED_PROXIES' } }),
  management_id_unknown: openPage('/operators', 'Open operators'),
  management_token_wrong: openPage('/operators', 'Open operators'),
  role_insufficient: openPage('/operators', 'Open operators'),
  session_invalid: openPage('/sessions', 'Open sessions'),
}

/** Elements of the page Access that a link leads to. */
export const PROXIES_ID = 'proxies'

/** The page that fixes a failure and that this operator may use; undefined if the client must change. */
export function fixOf(failure: Failure, can: (least: Role) => boolean): Fix | undefined {
  const { step, projectId } = failure
  if (step === 'project_limit')
    return openPage('/projects/$projectId/tokens', can('editor') ? 'Limit a key' : 'See who holds tokens', {
      params: { projectId },
    })
  if (step === 'app_id_unknown' || step === 'key_deleted')
    return openPage('/projects/$projectId/api-keys', 'Open API keys', { params: { projectId } })
  if (step === 'gateway_path')
    return openPage('.', 'Configure the proxy', { hash: PROXIES_ID, search: (current: object) => current })
  if (can('admin') && FOR_ADMINS[step]) return FOR_ADMINS[step]
  return (can('editor') ? FOR_EDITORS[step]?.(failure) : undefined) ?? openKey(failure, 'Open key')
}
