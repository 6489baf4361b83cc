import { SCOPE_VALUES, SCOPES, type Scope, wildcardScopeOf } from '../../contract/scopes.ts'
import { normalizeIp } from '../../platform/addresses.ts'
import { closest } from '../../platform/closest.ts'
import type { Database } from '../../platform/database/index.ts'
import { isoTime } from '../../platform/http/index.ts'
import { type ApiKeyRow, findApiKey, findApiKeyByAppId, whitelistOf } from '../api-keys/index.ts'
import {
  type CachedKey,
  cachedKey,
  cachedToken,
  findTokens,
  isKeyActive,
  isOfCurrentEpoch,
  isUnexpired,
  parseAccessToken,
  type TokenCache,
  type TokenRow,
} from '../tokens/index.ts'
import { findFaults } from './authorize-call.ts'
import { requiredScopeOf } from './call-path.ts'
import { type Holder, type PredictedResponse, predictResponse } from './predict-response.ts'

export interface AccessQuestion {
  readonly access_token?: string | undefined
  readonly app_id?: string | undefined
  readonly path: string
  readonly address?: string | undefined
  /** Ids of the projects that the asking operator may see; null for all. Other projects are answered like unknown ones. */
  readonly projects: readonly string[] | null
}

export interface Check {
  readonly step: string
  readonly passed: boolean
  readonly says: string
  readonly remedy?: string
  /** The command that does what the remedy says. */
  readonly command?: string
}

export interface AccessAnswer {
  readonly allowed: boolean
  readonly required_scope: Scope | null
  readonly steps: Omit<Check, 'remedy'>[]
  /** How to fix the first step that failed. */
  readonly remedy: string | null
  readonly command: string | null
  readonly response: PredictedResponse
}

export type CheckDeps = { readonly db: Database; readonly tokenCache: TokenCache }

type Says = { yes: string; no: string; remedy: string; command?: string | undefined }

/** The text of the remedy ends with its command. */
function check(step: string, passed: boolean, { yes, no, remedy, command }: Says): Check {
  if (passed) return { step, passed, says: yes }
  return command === undefined
    ? { step, passed, says: no, remedy }
    : { step, passed, says: no, remedy: `${remedy}: ${command}`, command }
}

/**
 * Checks whether a token or key is allowed to call a path from an address, and reports each step. It uses the conditions of
 * `verify-token.ts` and `authorize-call.ts`, with rows of the store instead of the cache.
 */
export async function checkAccess(
  deps: CheckDeps & { readonly publicUrl: () => string },
  question: AccessQuestion,
): Promise<AccessAnswer> {
  const path = requiredScopeOf(question.path)
  const requiredScope = path.ok ? path.requiredScope : null
  const pathCheck = check('path', path.ok, {
    yes: `${question.path} requires "${requiredScope}"${misspellingHint(question.path, requiredScope)}`,
    no: path.ok ? '' : `${JSON.stringify(question.path)}: ${path.says}`,
    remedy: 'Call a plain path below /v1 or /client/v1.',
  })
  const { steps, holder } = await checkHolder(deps, question, requiredScope)
  const { passed: allowed, ...shown } = outcomeOf([pathCheck, ...steps])
  const response = predictResponse({ ...question, verdict: path, holder }, deps.publicUrl())
  return { allowed, required_scope: requiredScope, ...shown, response }
}

/** The steps as operators see them, and how to fix the first that failed. */
export function outcomeOf(steps: readonly Check[]) {
  const failed = steps.find((step) => !step.passed)
  return {
    passed: failed === undefined,
    steps: steps.map(({ step, passed, says }) => ({ step, passed, says })),
    remedy: failed?.remedy ?? null,
    command: failed?.command ?? null,
  }
}

/** True for `api` and `client_api`: no other scope names the path, which is probably misspelt. */
const isWildcard = (requiredScope: Scope): boolean => requiredScope === wildcardScopeOf(requiredScope)

const segmentsBelow = (wildcard: Scope): string[] =>
  SCOPE_VALUES.filter((scope) => scope !== wildcard && wildcardScopeOf(scope) === wildcard).map(
    (scope) => SCOPES[scope].segment,
  )

function misspellingHint(path: string, requiredScope: Scope | null): string {
  if (requiredScope === null || !isWildcard(requiredScope)) return ''
  const [, prefix = '', segment = ''] = /^((?:\/client)?\/v1\/?)([^/?]*)/.exec(path) ?? []
  const guess = closest(segment, segmentsBelow(requiredScope))
  return `, because no scope names this path${guess ? `. Did you mean ${prefix}${guess}?` : ''}`
}

const CHECK_PATH = 'Check the path: no scope names it.'

const maySee = ({ projects }: AccessQuestion, projectId: string): boolean =>
  projects?.includes(projectId) ?? true

/** Checks whose credential it is. Address and permissions of the holder do not make its credential invalid. */
async function checkHolder(
  deps: CheckDeps,
  question: AccessQuestion,
  requiredScope: Scope | null,
): Promise<{ steps: Check[]; holder: Holder }> {
  if (question.access_token !== undefined) {
    const found = await findToken(deps, question.access_token, (id) => maySee(question, id))
    const steps = tokenSteps(deps, found, { question, requiredScope })
    const isActive = steps.every(({ step, passed }) => passed || ABOUT_CALL.includes(step))
    const key = isActive && found.key ? cachedKey(found.key, 0) : undefined
    const expiresInMs = (found.token?.expires_at ?? 0) - deps.tokenCache.databaseClock.now()
    return { steps, holder: { kind: 'token', key, scope: found.token?.scope ?? '', expiresInMs } }
  }
  const key = await findApiKeyByAppId(deps.db, question.app_id!)
  const row = key && maySee(question, key.project_id) ? key : undefined
  const found = check('credential', row !== undefined, {
    yes: `the app id is key "${row?.name}"`,
    no: 'no API key has this app id',
    remedy: 'Compare it with',
    command: 'jeton key list',
  })
  const cached = row && cachedKey(row, 0)
  const steps = cached
    ? [found, ...keySteps({ key: cached, tokenScope: undefined }, question, requiredScope)]
    : [found]
  return { steps, holder: { kind: 'key', key: cached } }
}

const ABOUT_CALL: readonly string[] = ['address', 'permissions', 'scope']

export interface FoundToken {
  readonly isWellFormed: boolean
  readonly token: TokenRow | undefined
  readonly key: ApiKeyRow | undefined
}

/** Reads a token from the database. A token of a project that may not be seen is not found. */
export async function findToken(
  { db }: CheckDeps,
  accessToken: string,
  maySeeProject: (projectId: string) => boolean,
): Promise<FoundToken> {
  const locator = parseAccessToken(accessToken)
  if (locator === null) return { isWellFormed: false, token: undefined, key: undefined }
  const [token] = maySeeProject(locator.projectId) ? await findTokens(db, [locator]) : []
  const key = token && (await findApiKey(db, locator.projectId, token.key_id))
  return { isWellFormed: true, token, key }
}

interface TokenQuestion {
  readonly question: Pick<AccessQuestion, 'address'>
  readonly requiredScope: Scope | null
  /** Where tokens of one project alone are looked up. */
  readonly inProject?: boolean
}

export function tokenSteps(
  { tokenCache }: CheckDeps,
  { isWellFormed, token, key: row }: FoundToken,
  { question, requiredScope, inProject = false }: TokenQuestion,
): Check[] {
  const wellFormed = check('well_formed', isWellFormed, {
    yes: 'the token is well-formed',
    no: 'this is not a Jeton token: prefix, length or checksum is wrong',
    remedy: 'Check the client for a truncated or altered token.',
  })
  if (!isWellFormed) return [wellFormed]
  const elsewhere = inProject ? ', it belongs to another project' : ''
  const isKnown = check('known', row !== undefined, {
    yes: `it was issued to key "${row?.name}"`,
    no: `the token is unknown: it never existed${elsewhere}, or it expired and was removed`,
    remedy: 'The client must request a new token.',
  })
  if (!token || !row) return [wellFormed, isKnown]
  const key = cachedKey(row, 0)
  return [
    wellFormed,
    isKnown,
    ...lifeSteps(token, key, tokenCache.databaseClock.now()),
    ...keySteps({ key, tokenScope: token.scope }, question, requiredScope),
  ]
}

function lifeSteps(row: TokenRow, key: CachedKey, now: number): Check[] {
  const remedy = 'The client must request a new token.'
  const token = cachedToken(row, 0)
  return [
    check('not_revoked', !token.revoked, {
      yes: 'it was not revoked',
      no: `it was revoked at ${isoTime(row.revoked_at ?? 0)}`,
      remedy,
    }),
    check('not_expired', isUnexpired(token, now), {
      yes: `it expires at ${isoTime(token.expiresAt)}`,
      no: `it expired at ${isoTime(token.expiresAt)}`,
      remedy,
    }),
    check('not_invalidated', isOfCurrentEpoch(token, key), {
      yes: 'since then, its key was not blocked and its tokens were not revoked',
      no: 'after it was issued, its key was blocked or deleted, or all tokens of the key were revoked',
      remedy,
    }),
  ]
}

/** Quotes a name as one shell word. */
const quoted = (name: string): string =>
  /^[\w.-]+$/.test(name) ? name : `'${name.replaceAll("'", `'\\''`)}'`

function keySteps(
  { key, tokenScope }: { key: CachedKey; tokenScope: string | undefined },
  { address }: Pick<AccessQuestion, 'address'>,
  requiredScope: Scope | null,
): Check[] {
  const { state } = key.row
  const name = quoted(key.row.name)
  const faults = findFaults(
    {
      address: address === undefined ? null : normalizeIp(address),
      requiredScopes: requiredScope === null ? [] : [requiredScope],
    },
    { key, tokenScope },
  )
  const steps = [
    check('key_active', isKeyActive(key), {
      yes: 'the key is active',
      no: `the key is ${state}`,
      ...(state === 'blocked'
        ? { remedy: 'Unblock it', command: `jeton key unblock ${name}` }
        : { remedy: 'Create a new key: see jeton key create --help' }),
    }),
  ]
  if (address !== undefined)
    steps.push(
      check('address', !faults.address, {
        yes: `${address} is allowed to use the key`,
        no: `${address} is not in the IP allowlist of the key`,
        remedy: 'Add it',
        command: `jeton key update ${name} --ip-whitelist ${[...whitelistOf(key.row), address].join(',')}`,
      }),
    )
  if (requiredScope === null) return steps
  steps.push(
    check('permissions', faults.permission === undefined, {
      yes: `the key has: ${key.permissions.join(' ')}`,
      no: `the key has only: ${key.permissions.join(' ')}`,
      ...(isWildcard(requiredScope)
        ? { remedy: CHECK_PATH }
        : {
            remedy: 'Extend the permissions',
            command: `jeton key update ${name} --permissions ${[...key.permissions, requiredScope].join(',')}`,
          }),
    }),
  )
  if (tokenScope !== undefined)
    steps.push(
      check('scope', faults.scope === undefined, {
        yes: `the token has: ${tokenScope}`,
        no: `the token has only: ${tokenScope}`,
        remedy: isWildcard(requiredScope)
          ? CHECK_PATH
          : `The client must request a token with "${requiredScope}".`,
      }),
    )
  return steps
}
