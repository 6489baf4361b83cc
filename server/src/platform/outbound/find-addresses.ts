import { lookup, Resolver } from 'node:dns/promises'
import type { FoundAddress } from './guard.ts'
import { LOCAL_NAME } from './target-url.ts'

/** Every address of a name; rejects with a code of `node:dns`. */
export type FindAddresses = (name: string) => Promise<readonly FoundAddress[]>

interface NameServers {
  /** `address:port`; those of the machine where none are named. */
  readonly servers?: readonly string[]
  /** For the first of two questions. Both end within the time of a send. */
  readonly timeoutMs?: number
}

const TRIES = 2

/** What name servers say where the system may know more: it may be a name of this machine or of its network. */
const ASK_SYSTEM = new Set(['ENOTFOUND', 'ENODATA', 'ECONNREFUSED', 'EREFUSED', 'ESERVFAIL', 'ENOTIMP'])

/**
 * By DNS itself, and by the system (its hosts file and search domains) where DNS knows nothing. Not by the system alone:
 * its look-ups share four threads with all file access of the process, and a few names whose servers never answer would
 * hold everyone up.
 */
export function findAddressesBy({ servers, timeoutMs = 2_000 }: NameServers = {}): FindAddresses {
  /** With a resolver of its own each time, so that it goes by the present settings of the machine. */
  async function askDns(name: string): Promise<FoundAddress[]> {
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

const addressesOf = (answer: PromiseSettledResult<string[]>, family: number): FoundAddress[] =>
  answer.status === 'fulfilled' ? answer.value.map((address) => ({ address, family })) : []

/** Those who ask for the same name at the same time share one look-up: a slow name is waited for once. */
export function sharing(find: FindAddresses): FindAddresses {
  const asked = new Map<string, ReturnType<FindAddresses>>()
  return (name) => {
    const under = asked.get(name)
    if (under) return under
    const answer = find(name).finally(() => asked.delete(name))
    asked.set(name, answer)
    return answer
  }
}
