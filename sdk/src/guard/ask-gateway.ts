import type { Scope } from '../generated/scopes.ts'
import { type Fetch, sendRequest } from '../send-request.ts'
import { refuse, type Verdict } from './verdict.ts'

/** A call of a well-formed token from a known address. */
export interface Question {
  readonly token: string
  readonly scope: Scope
  readonly address: string
}

export interface GatewayDeps {
  readonly baseUrl: string | URL
  readonly projectIds: ReadonlySet<string>
  readonly fetch?: Fetch | undefined
}

export interface Answer {
  readonly verdict: Verdict
  /** Time that the token has left, at least. */
  readonly expiresInMs: number
}

const unavailable = (message: string, requestId?: string | null): Answer => ({
  verdict: refuse('unavailable', { message, requestId }),
  expiresInMs: 0,
})

/**
 * Asks Jeton whether a token may make a call now. Introspection would not be enough: it shows the scope as granted, and not
 * the present permissions of the key.
 */
export async function askGateway(deps: GatewayDeps, question: Question, timeoutMs: number): Promise<Answer> {
  const path = `/gateway/authorize?scope=${encodeURIComponent(question.scope)}`
  const headers = { authorization: `Bearer ${question.token}`, 'x-forwarded-for': question.address }
  try {
    const response = await sendRequest({ ...deps, path, init: { headers }, timeoutMs })
    // Every part of an answer is in its headers. A body of any length is never read.
    await response.body?.cancel()
    return read(response, deps, question)
  } catch (error) {
    return unavailable((error as Error).message)
  }
}

function read({ status, headers }: Response, deps: GatewayDeps, question: Question): Answer {
  if (status === 200) return readAllowed(headers, deps, question)
  const requestId = validId(headers.get('x-request-id'))
  const key = keyOf(headers.get('x-jeton-error') ?? '')
  if (status === 401 && key !== undefined)
    return { verdict: refuse('inactive', { requestId }), expiresInMs: 0 }
  if (status === 403 && (key === 'insufficient_scope' || key === 'ip_not_allowed'))
    return { verdict: refuse(key, { scope: question.scope, requestId }), expiresInMs: 0 }
  return unavailable(`Jeton answered ${status}.`, requestId)
}

/** An id of our own format only: another text could be anything. */
const validId = (id: string | null): string | undefined =>
  id !== null && /^v-[0-9a-f]{18}$/.test(id) ? id : undefined

/** The key of the error that Jeton repeats in a header. A proxy in between may refuse too, but it does not know the token. */
function keyOf(text: string): string | undefined {
  try {
    const { key } = JSON.parse(text)
    return typeof key === 'string' ? key : undefined
  } catch {
    return undefined
  }
}

/** True if the scopes include this one, or the one that covers its whole side. */
const covers = (held: readonly string[], scope: Scope): boolean =>
  held.includes(scope) || held.includes(scope.startsWith('client_') ? 'client_api' : 'api')

/** Every header must be present and fit the question. Anything else is not an answer of Jeton to this question. */
function readAllowed(headers: Headers, { projectIds }: GatewayDeps, question: Question): Answer {
  const of = (name: string) => headers.get(`x-jeton-${name}`) ?? ''
  const [projectId, keyId, clientId, address] = [
    of('project-id'),
    of('key-id'),
    of('client-id'),
    of('address'),
  ]
  const scope = of('scope').split(' ') as Scope[]
  const seconds = of('expires-in')
  if (
    !projectId ||
    !keyId ||
    !clientId ||
    !address ||
    !/^\d{1,5}$/.test(seconds) ||
    !covers(scope, question.scope)
  )
    return unavailable('The answer is not one of Jeton’s gateway, or of a version before 0.1.')
  if (address !== question.address)
    return {
      verdict: refuse('not_trusted', {
        message: `Jeton checked the address ${address} instead of ${question.address}: add this machine to JETON_TRUSTED_PROXIES.`,
      }),
      expiresInMs: 0,
    }
  if (!projectIds.has(projectId)) return { verdict: refuse('inactive'), expiresInMs: 0 }
  return {
    verdict: { allowed: true, caller: { projectId, keyId, clientId, scope } },
    expiresInMs: Number(seconds) * 1000,
  }
}
