import type { Context, MiddlewareHandler } from 'hono'
import type { Scope } from '../generated/scopes.ts'
import { type Caller, type Guard, responseOf } from '../guard/index.ts'

declare module 'hono' {
  interface ContextVariableMap {
    /** Set by `requireScope`. */
    jeton: Caller
  }
}

export interface RequireScopeOptions {
  /** Address of the caller, from the connection: `(c) => getConnInfo(c).remote.address`. */
  readonly address: (context: Context) => string | undefined
}

/** Middleware that lets a call pass if its token covers the scope. The caller is `c.get('jeton')`. */
export function requireScope(
  guard: Guard,
  scope: Scope,
  { address }: RequireScopeOptions,
): MiddlewareHandler {
  return async (context, next) => {
    const authorization = context.req.header('authorization')
    const verdict = await guard.check({ authorization, scope, address: address(context) })
    if (!verdict.allowed) return responseOf(verdict)
    context.set('jeton', verdict.caller)
    await next()
  }
}
