import { lookup, Resolver } from 'node:dns/promises'
import type { ResolvedAddress } from './guard.ts'
import { LOCAL_NAME } from './target-url.ts'

/** Returns every address of a name; rejects with a code of `node:dns`. */
export type ResolveHost = (name: string) => Promise<readonly ResolvedAddress[]>

interface NameServers {
  /** `address:port`; default: those of the machine. */
  readonly servers?: readonly string[]
  /** Timeout of the first of two tries. Both end within the deadline of a send. */
  readonly timeoutMs?: number
}

const TRIES = 2

/**
 * DNS errors after which the system is asked, because the name may be local. Not after SERVFAIL, the response for a zone
 * whose servers hang: the system would wait for them with one of its four threads.
 */
const ASK_SYSTEM = new Set(['ENOTFOUND', 'ENODATA', 'ECONNREFUSED', 'EREFUSED', 'ENOTIMP'])

/**
 * Queries DNS directly, then the system (hosts file, search domains) if DNS has no answer. The system's resolver shares
 * four threads with all file access of the process, so a few names whose servers never answer would block everything.
 */
export function createResolver({ servers, timeoutMs = 2_000 }: NameServers = {}): ResolveHost {
  /** Uses a new resolver each time, so that changed network settings of the machine take effect. */
  async function askDns(name: string): Promise<ResolvedAddress[]> {
    const resolver = new Resolver({ timeout: timeoutMs, tries: TRIES })
    if (servers) resolver.setServers(servers)
    const [four, six] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)])
    if (four.status === 'rejected' && six.status === 'rejected') throw four.reason
    return [...addressesOf(four, 4), ...addressesOf(six, 6)]
  }

  return async (name) => {
    if (!name.includes('.') || LOCAL_NAME.test(name)) return lookup(name, { all: true })
    try {
      return await askDns(name)
    } catch (error) {
      if (ASK_SYSTEM.has((error as NodeJS.ErrnoException).code ?? '')) return lookup(name, { all: true })
      throw error
    }
  }
}

const addressesOf = (answer: PromiseSettledResult<string[]>, family: number): ResolvedAddress[] =>
  answer.status === 'fulfilled' ? answer.value.map((address) => ({ address, family })) : []

/** Concurrent requests for the same name share one lookup. */
export function coalesced(resolve: ResolveHost): ResolveHost {
  const pending = new Map<string, ReturnType<ResolveHost>>()
  return (name) => {
    const shared = pending.get(name)
    if (shared) return shared
    const answer = resolve(name).finally(() => pending.delete(name))
    pending.set(name, answer)
    return answer
  }
}
