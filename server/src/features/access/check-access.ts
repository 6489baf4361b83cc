import { covers, SCOPE_VALUES, SCOPES, type Scope, wholeSideOf } from '../../contract/scopes.ts'
import { normalizeIp } from '../../platform/addresses.ts'
import { closest } from '../../platform/closest.ts'
import type { Database } from '../../platform/database/index.ts'
import { isoTime } from '../../platform/http/index.ts'
import { findApiKey, findApiKeyByAppId, whitelistOf } from '../api-keys/index.ts'
import {
  type CachedKey,
  cachedKey,
  findTokens,
  nameOfToken,
  type TokenCache,
  type TokenRow,
} from '../tokens/index.ts'
import { judgePath } from './call-path.ts'

export interface AccessQuestion {
  readonly access_token?: string | undefined
  readonly app_id?: string | undefined
  readonly path: string
  readonly address?: string | undefined
  /** Ids of the projects that the asking operator may see; null for all. Other projects are answered like unknown ones. */
  readonly projects: readonly string[] | null
}

interface Check {
  readonly step: string
  readonly passed: boolean
  readonly says: string
  readonly remedy?: string
}

export interface AccessAnswer {
  readonly allowed: boolean
  readonly needed_scope: Scope | null
  readonly steps: Omit<Check, 'remedy'>[]
  /** How to fix the first step that failed. */
  readonly remedy: string | null
}

type Deps = { readonly db: Database; readonly tokenCache: TokenCache }

const check = (step: string, passed: boolean, says: { yes: string; no: string; remedy: string }): Check =>
  passed ? { step, passed, says: says.yes } : { step, passed, says: says.no, remedy: says.remedy }

/**
 * May this token or key call this path from this address? Each step, passed or failed, from the store itself and not
 * from the cache: what operators and the console ask. The decision is the same one that the guard makes.
 */
export async function checkAccess(deps: Deps, question: AccessQuestion): Promise<AccessAnswer> {
  const path = judgePath(question.path)
  const pathCheck = check('path', path.ok, {
    yes: path.ok ? `${question.path} needs "${path.needed}"${unnamed(question.path, path.needed)}` : '',
    no: path.ok ? '' : `${JSON.stringify(question.path)}: ${path.says}`,
    remedy: 'Call a plain path below /v1 or /client/v1.',
  })
  const needed = path.ok ? path.needed : null
  const steps = [pathCheck, ...(await holderSteps(deps, question, needed))]
  const failed = steps.find((step) => !step.passed)
  return {
    allowed: failed === undefined,
    needed_scope: needed,
    steps: steps.map(({ step, passed, says }) => ({ step, passed, says })),
    remedy: failed?.remedy ?? null,
  }
}

/** The first segment has no scope of its own, so nothing says that the path exists: probably it is misspelt. */
const isUnnamed = (needed: Scope): boolean => needed === wholeSideOf(needed)

const namedSegments = (side: Scope): string[] =>
  SCOPE_VALUES.filter((scope) => scope !== side && wholeSideOf(scope) === side).map(
    (scope) => SCOPES[scope].segment,
  )

function unnamed(path: string, needed: Scope): string {
  if (!isUnnamed(needed)) return ''
  const [, prefix = '', segment = ''] = /^((?:\/client)?\/v1\/?)([^/?]*)/.exec(path) ?? []
  const guess = closest(segment, namedSegments(needed))
  return `, because no scope names this path${guess ? `. Did you mean ${prefix}${guess}?` : ''}`
}

const CHECK_PATH = 'Check the path: no scope names it.'

const maySee = ({ projects }: AccessQuestion, projectId: string): boolean =>
  projects?.includes(projectId) ?? true

async function holderSteps(deps: Deps, question: AccessQuestion, needed: Scope | null): Promise<Check[]> {
  if (question.access_token !== undefined) return tokenSteps(deps, question, question.access_token, needed)
  const key = await findApiKeyByAppId(deps.db, question.app_id!)
  const row = key && maySee(question, key.project_id) ? key : undefined
  const found = check('credential', row !== undefined, {
    yes: `the app id is key "${row?.name}"`,
    no: 'no API key has this app id',
    remedy: 'Check it against: jeton key list',
  })
  return row ? [found, ...keySteps(cachedKey(row, 0), question, needed)] : [found]
}

async function tokenSteps(
  { db, tokenCache }: Deps,
  question: AccessQuestion,
  accessToken: string,
  needed: Scope | null,
): Promise<Check[]> {
  const name = nameOfToken(accessToken)
  const wellFormed = check('well_formed', name !== null, {
    yes: 'the token is well-formed',
    no: 'this is not a token of ours: prefix, length or checksum are wrong',
    remedy: 'Look for a cut-off or altered token in the client.',
  })
  if (name === null) return [wellFormed]
  const [token] = maySee(question, name.projectId) ? await findTokens(db, [name]) : []
  const row = token && (await findApiKey(db, name.projectId, token.key_id))
  const onRecord = check('on_record', row !== undefined, {
    yes: `it was issued to key "${row?.name}"`,
    no: 'the token is not on record: it never existed, or it expired a while ago',
    remedy: 'The client must ask for a new token.',
  })
  if (!token || !row) return [wellFormed, onRecord]
  const key = cachedKey(row, 0)
  return [
    wellFormed,
    onRecord,
    ...lifeSteps(token, key, tokenCache.databaseClock.now()),
    ...keySteps(key, question, needed),
    ...scopeStep(token, needed),
  ]
}

function lifeSteps(token: TokenRow, { row }: CachedKey, now: number): Check[] {
  const remedy = 'The client must ask for a new token.'
  return [
    check('not_revoked', token.revoked_at === null, {
      yes: 'it was not revoked',
      no: `it was revoked at ${isoTime(token.revoked_at ?? 0)}`,
      remedy,
    }),
    check('not_expired', now < token.expires_at, {
      yes: `it expires at ${isoTime(token.expires_at)}`,
      no: `it expired at ${isoTime(token.expires_at)}`,
      remedy,
    }),
    check('of_present_epoch', token.epoch === row.epoch, {
      yes: 'its key was neither blocked nor had its tokens revoked since',
      no: 'its key was blocked or deleted, or had its tokens revoked, after it was issued',
      remedy,
    }),
  ]
}

/** A name as a shell takes it for one word, whatever is in it. */
const quoted = (name: string): string =>
  /^[\w.-]+$/.test(name) ? name : `'${name.replaceAll("'", `'\\''`)}'`

function keySteps(key: CachedKey, { address }: AccessQuestion, needed: Scope | null): Check[] {
  const { state } = key.row
  const name = quoted(key.row.name)
  const steps = [
    check('key_active', state === 'active', {
      yes: 'the key is active',
      no: `the key is ${state}`,
      remedy:
        state === 'blocked'
          ? `Unblock it: jeton key unblock ${name}`
          : 'Create a new one: see jeton key create --help',
    }),
  ]
  if (address !== undefined)
    steps.push(
      check('address', key.allowsIp(normalizeIp(address)), {
        yes: `${address} may use the key`,
        no: `${address} is not in the whitelist of the key`,
        remedy: `Add it: jeton key update ${name} --ip-whitelist ${[...whitelistOf(key.row), address].join(',')}`,
      }),
    )
  if (needed !== null)
    steps.push(
      check('permissions', covers(key.permissions, needed), {
        yes: `the key is permitted: ${key.permissions.join(' ')}`,
        no: `the key is permitted only: ${key.permissions.join(' ')}`,
        remedy: isUnnamed(needed)
          ? CHECK_PATH
          : `Widen it: jeton key update ${name} --permissions ${[...key.permissions, needed].join(',')}`,
      }),
    )
  return steps
}

function scopeStep({ scope }: TokenRow, needed: Scope | null): Check[] {
  if (needed === null) return []
  return [
    check('scope', covers(scope.split(' '), needed), {
      yes: `the token has: ${scope}`,
      no: `the token has only: ${scope}`,
      remedy: isUnnamed(needed) ? CHECK_PATH : `The client must ask for a token with "${needed}".`,
    }),
  ]
}
