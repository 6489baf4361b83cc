import type { FastifyPluginCallback, FastifyReply, FastifyRequest } from 'fastify'
import type { Scope } from '../generated/scopes.ts'
import type { Caller, Guard } from '../guard/index.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Scope that a call must have. `false` makes the route public. */
    scope?: Scope | false
  }
  interface FastifyRequest {
    /** The caller. Reading it on a public route is a bug and throws. */
    jeton: Caller
  }
}

export interface JetonPluginOptions {
  readonly guard: Guard
  /**
   * Address of the caller. Default: the peer of the socket. Behind a proxy, set Fastify's `trustProxy` to the address of the
   * proxy and pass `(request) => request.ip`.
   */
  readonly address?: (request: FastifyRequest) => string | undefined
}

const callers = new WeakMap<object, Caller>()

/**
 * Guards every route that is registered after it, before the body is read. A route names its scope in `config.scope`. One
 * without a scope cannot be registered, so that no route is public by mistake.
 */
const plugin: FastifyPluginCallback<JetonPluginOptions> = (app, options, done) => {
  const { guard, address = (request) => request.socket.remoteAddress } = options

  app.decorateRequest('jeton', {
    getter(this: FastifyRequest) {
      const caller = callers.get(this)
      if (!caller) throw new Error(`The route ${this.routeOptions.url} is public and has no caller.`)
      return caller
    },
  })

  app.addHook('onRoute', ({ url, method, config }) => {
    if (config?.scope === undefined)
      throw new Error(`The route ${method} ${url} needs config.scope: a scope, or false for a public route.`)
  })

  app.addHook('onRequest', async (request: FastifyRequest, reply: FastifyReply) => {
    const { scope } = request.routeOptions.config
    if (scope === false || request.is404) return
    // A route that was registered before the plugin was loaded.
    if (scope === undefined) throw new Error(`The route ${request.routeOptions.url} needs config.scope.`)
    const { authorization } = request.headers
    const verdict = await guard.check({ authorization, scope, address: address(request) })
    if (!verdict.allowed) return reply.code(verdict.status).headers(verdict.headers).send(verdict.body)
    callers.set(request, verdict.caller)
  })
  done()
}

/** Without this mark, Fastify would limit the hooks to the plugin itself. */
export const jeton: FastifyPluginCallback<JetonPluginOptions> = Object.assign(plugin, {
  [Symbol.for('skip-override')]: true,
})
