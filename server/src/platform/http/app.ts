import type { IncomingHttpHeaders } from 'node:http'
import type {} from '@fastify/swagger'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyContextConfig, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Role } from '../../contract/roles.ts'
import type { Scope } from '../../contract/scopes.ts'
import type { Span } from '../tracing.ts'
import type { ClientAddress } from './client-address.ts'

declare const plain: FastifyInstance
/** Fastify with TypeBox: the schema of a route provides validation, types and documentation. */
export type App = ReturnType<typeof plain.withTypeProvider<TypeBoxTypeProvider>>

/**
 * Access to a route: `public` for everyone, `operator` for an operator with the route's role, `scope` for a bearer token or key pair
 * that covers the route's scope. `handler` authenticates itself: the credential may be in a form. A route without a rule
 * cannot be registered.
 */
export type Access = 'public' | 'operator' | 'scope' | 'handler'

/** Sets the caller on the request, or throws the Problem that refuses it. Returns no promise if the cache can decide. */
export type Guard<T> = (request: FastifyRequest, required: T) => void | Promise<void>

/** Role and projects that a route requires of an operator. */
export interface OperatorRule {
  readonly role: Role
  readonly projects?: 'all' | 'any' | undefined
}

/** The operator of a request, as it is in the store now. */
export interface CallingOperator {
  readonly id: string
  readonly name: string
  readonly role: Role
  /** Ids of the projects that it may see and change; null for all. */
  readonly projects: readonly string[] | null
  /** Id of the browser's session; null for the header pair. */
  readonly sessionId: string | null
}

export type Guards = { readonly operator: Guard<OperatorRule>; readonly scope: Guard<Scope> }

/** The author of a change, for the audit log. */
export interface Actor {
  readonly type: 'operator' | 'api_key' | 'system'
  readonly id: string
  readonly address: string | null
  readonly requestId: string | null
  /** How an operator proved who it is. */
  readonly via?: 'session' | 'token'
}

/** A raw request: Node's own, or one that the fast path has parsed. */
export interface RawRequest {
  readonly method?: string | undefined
  readonly url?: string | undefined
  readonly headers: IncomingHttpHeaders
  /** Alternating names and values, as sent. */
  readonly rawHeaders: readonly string[]
  readonly httpVersionMinor: number
  /** True if the whole request has arrived. */
  readonly complete: boolean
  readonly socket: { readonly remoteAddress?: string | undefined }
}

/** The part of a request that a `FastHandler` may use. `body` is the form. Fastify's requests have it too. */
export type ApiRequest = Pick<FastifyRequest, 'headers' | 'caller' | 'body' | 'logNote'> & {
  readonly raw: RawRequest
}

/** A response with status 200 and ASCII text. Headers are alternating names and values. */
export type ApiResponse = { readonly headers: readonly string[]; readonly text: string }

/** Returns the response with status 200 or throws. Returns no promise if the response is ready. */
export type FastHandler = (request: ApiRequest) => ApiResponse | Promise<ApiResponse>

/** A response as it is counted and logged. */
export type AccessLogEntry = { readonly status: number; readonly ms: number } & Pick<
  FastifyRequest,
  'id' | 'method' | 'url' | 'caller' | 'logNote' | 'reason' | 'span'
>

/** A request that gets a span: of Fastify, or of the fast path. */
export interface TracedRequest extends Pick<RawRequest, 'headers'> {
  readonly id: string
  readonly method: string
  span: Span | undefined
}

/** Starts the span of a request, and runs the work inside of it. */
export type EnterSpan = (request: TracedRequest, work: () => void) => void

/** Rules for every request of a route, prepared when the route is registered. */
export interface RouteRule {
  readonly config: FastifyContextConfig
  /** Headers of every response, as alternating names and values. */
  readonly headers: readonly string[]
  /** Refuses requests that are invalid on any route. */
  readonly check: (raw: RawRequest) => void
  readonly record: (entry: AccessLogEntry) => void
  /** Undefined if requests of the route are not traced. */
  readonly enterSpan: EnterSpan | undefined
  /** The hook `onRequest`, with a callback instead of a promise: it runs for every request. */
  readonly begin: (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void) => void
}

declare module 'fastify' {
  interface FastifyContextConfig {
    access?: Access
    /** Errors carry `error` of RFC 6749, and responses are never cached. */
    oauth?: boolean
    /** With access `operator`: the least role. */
    role?: Role
    /**
     * With access `operator` and no project in the path: `all` is for operators who are not limited to projects, `any` for
     * every operator, and its handler leaves out what belongs to other projects.
     */
    projects?: 'all' | 'any'
    /** With access `scope`: the required scope, if it is not the one of the path. */
    scope?: Scope
    /** Accepted body; JSON by default. A route that accepts nothing responds before a body is read. */
    bodyType?: 'form' | 'nothing'
    /** Part of the management listener, if there is one. */
    management?: boolean
    /** Errors repeat their body in the header `x-jeton-error`, and responses are never cached. */
    refusalInHeader?: boolean
    /** Responses are never cached. Always true with access `operator` or `scope` and for OAuth. */
    noStore?: boolean
    /** Handler of a route that the fast path serves too. */
    fast?: FastHandler
  }
  interface FastifyRequest {
    caller: ClientAddress
    bodyType: 'json' | 'form' | 'nothing'
    /** Rule of its route, or of a path without a route. */
    rule: RouteRule | undefined
    startedAt: number
    /** Undefined if the request is not traced. */
    span: Span | undefined
    /** Set by the guard; reading it on a public route is a bug and throws. */
    actor: Actor
    /** Set by the operator guard. */
    operator: CallingOperator
    /** Set by the scope guard: project and key of the caller. */
    projectId: string
    apiKey: { readonly name: string; readonly app_id: string }
    /** For the access log, for example the name of the key and the scope. Never a secret. */
    logNote: string | undefined
    /** Reason of a 503, for the log. */
    reason: string | undefined
  }
}
