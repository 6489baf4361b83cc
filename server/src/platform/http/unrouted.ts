import type { FastifyReply, FastifyRequest } from 'fastify'
import { Problem } from '../../contract/problem.ts'
import { methodNotAllowed, type OtherMethod, pathPattern } from './other-methods.ts'
import { type createRouteHooks, pathOf } from './route-hooks.ts'

type Hooks = ReturnType<typeof createRouteHooks>
type Answer = (problem: unknown, request: FastifyRequest, reply: FastifyReply) => void

const MANAGEMENT = /^\/management(\/|$)/

function unknownPath(request: FastifyRequest): Problem {
  return new Problem('not_found', {
    message: `There is nothing at ${request.method} ${JSON.stringify(pathOf(request.url).slice(0, 120))}.`,
    details: 'The API reference at /docs lists every path.',
  })
}

/** As the router reads it: without the host that RFC 9112 §3.2.2 allows, and decoded where it can be. */
function routedPath({ url }: FastifyRequest): string {
  const path = pathOf(url).replace(/^https?:\/\/.*?\//, '/')
  try {
    return decodeURI(path)
  } catch {
    return path
  }
}

interface Unrouted {
  readonly begin: ReturnType<Hooks['begin']>
  readonly end: ReturnType<Hooks['end']>
  /** What the path has, where it has anything. */
  readonly allow?: string
}

/**
 * Answers requests that have no route: 405 where the path has one for another method, else 404. Below `/management` only
 * where the caller's address may reach it, so that others learn nothing.
 */
export function createUnroutedAnswers(hooks: Hooks, answer: Answer) {
  const end = hooks.end(hooks.recordOf('unknown', 'any'))
  const unknown: Unrouted = { end, begin: hooks.begin({ noStore: true }) }
  const unknownManagement: Unrouted = { end, begin: hooks.begin({ noStore: true, management: true }) }
  let paths: (Unrouted & { readonly pattern: RegExp })[] = []
  let hasManagement = false

  const nothingAt = (path: string): Unrouted =>
    hasManagement && MANAGEMENT.test(path) ? unknownManagement : unknown

  function refuse(
    request: FastifyRequest,
    reply: FastifyReply,
    because: { begin: Unrouted['begin']; problem: unknown },
  ) {
    const done = (error?: unknown) => answer(error ?? because.problem, request, reply)
    try {
      because.begin(request, reply, done)
    } catch (error) {
      done(error)
    }
  }

  return {
    /** The paths that have routes. Those without parameters come first, as in the router. */
    learn(known: readonly OtherMethod[]): void {
      hasManagement = known.some(({ url }) => MANAGEMENT.test(url))
      const parameters = (url: string) => url.split(/[:*]/).length
      paths = known
        .toSorted((a, b) => parameters(a.url) - parameters(b.url))
        .map(({ url, allow, config }) => ({
          pattern: pathPattern(url),
          allow,
          begin: hooks.begin(config),
          end: hooks.end(hooks.recordOf(url, ['any'])),
        }))
    },
    answer(request: FastifyRequest, reply: FastifyReply): void {
      const path = routedPath(request)
      const found = paths.find(({ pattern }) => pattern.test(path)) ?? nothingAt(path)
      const { begin, end, allow } = found
      reply.raw.once('finish', () => end(request, reply, () => undefined))
      const problem = allow === undefined ? unknownPath(request) : methodNotAllowed(request.method, allow)
      refuse(request, reply, { begin, problem })
    },
    /** Refuses a path that cannot be decoded with `problem`. */
    answerBadUrl(request: FastifyRequest, reply: FastifyReply, problem: unknown): void {
      refuse(request, reply, { begin: nothingAt(routedPath(request)).begin, problem })
    },
  }
}
