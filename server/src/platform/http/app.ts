import type {} from '@fastify/swagger'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type {
  FastifyBaseLogger,
  FastifyInstance,
  FastifyRequest,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from 'fastify'
import type { Scope } from '../../contract/scopes.ts'
import type { CallerAddress } from './caller-address.ts'
import type { Quick } from './quick-answers.ts'

/** Fastify with TypeBox: a route's schema is its validation, its types and its documentation. */
export type App = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>

/**
 * Who may call a route. `public` is everyone; `operator` needs management credentials; `scope` a bearer token or key
 * pair that covers the route's scope; `handler` authenticates itself, since the credential may be in a form or the
 * decision is the answer. A route without a rule cannot be registered.
 */
export type Access = 'public' | 'operator' | 'scope' | 'handler'

/** Puts the caller on the request, or throws the Problem that refuses it. Without a promise where memory can tell. */
export type Guard<Needed = undefined> = (request: FastifyRequest, needed: Needed) => void | Promise<void>

export interface Guards {
  readonly operator: Guard
  readonly scope: Guard<Scope>
}

/** On whose behalf something is changed, for the audit log. */
export interface Actor {
  readonly type: 'operator' | 'api_key' | 'system'
  readonly id: string
  readonly address: string | null
  readonly requestId: string | null
}

declare module 'fastify' {
  interface FastifyContextConfig {
    access?: Access
    /** Answers carry RFC 6749 `error` and are never stored. */
    oauth?: boolean
    /** With access `scope`: what it needs, where that is not what its path says. */
    scope?: Scope
    /** What its body may be; JSON if not said. */
    takes?: 'form' | 'nothing'
    /** Part of the management listener, where there is one. */
    management?: boolean
    /** Refusals repeat their body in the header `x-jeton-error`; and no answer is stored. */
    refusalInHeader?: boolean
    /** Answers are never stored; those to operators, by scope and of OAuth never are. */
    noStore?: boolean
    /** How it is answered before Fastify sees it, on the hot paths. */
    quick?: Quick
  }
  interface FastifyRequest {
    readonly caller: CallerAddress
    /** The same, once it has been worked out. */
    knownCaller: CallerAddress | undefined
    takes: 'json' | 'form' | 'nothing'
    /** Of its route, or of what stands for one where there is none. */
    rule: FastifyContextConfig | undefined
    /** Set by the guard; reading it on a public route is a bug and throws. */
    actor: Actor
    /** Likewise, behind a scope: the project that the caller belongs to. */
    projectId: string
    /** Likewise, behind a scope: the key that it called with, as events name it. */
    apiKey: { readonly name: string; readonly app_id: string }
    /** For the line in a terminal: the key's name and the scope, say. Never a secret. */
    note: string | undefined
    /** Why it is answered with 503, for the log. */
    reason: string | undefined
  }
}
