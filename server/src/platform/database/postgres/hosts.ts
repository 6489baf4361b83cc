import { type Tls, tlsOf } from './tls.ts'

/** One of the hosts that an address names. */
export interface Host {
  readonly host: string
  readonly port: number
  /** The same address with this host alone: user, password, database and parameters but those of TLS. */
  readonly url: URL
  readonly tls: Tls
}

const DEFAULT_PORT = 5432

/** `a:5433`, `a`, `[::1]:5433`. */
function parseHost(text: string): { host: string; port: number } {
  const [, host = text, port] = /^(.*?)(?::(\d+))?$/.exec(text)!
  return { host: host.replace(/^\[(.*)\]$/, '$1'), port: port ? Number(port) : DEFAULT_PORT }
}

/** Every host of `postgres://user:password@a:5432,b:5432/database?…`, which is no valid URL as it stands. */
export function hostsIn(address: string): Host[] {
  const [, scheme, authority, rest] = /^(postgres(?:ql)?:\/\/)([^/]*)(.*)$/.exec(address)!
  // A password may hold an `@` or a comma; a host cannot.
  const at = authority!.lastIndexOf('@') + 1
  const [user, names] = [authority!.slice(0, at), authority!.slice(at)]
  return names.split(',').map((name) => {
    const url = new URL(`${scheme}${user}${name}${rest}`)
    const parsed = parseHost(name)
    const tls = tlsOf(parsed.host, url.searchParams)
    // The driver would read them in its own way, and send those that it does not know to the server.
    for (const parameter of ['sslmode', 'sslrootcert']) url.searchParams.delete(parameter)
    return { ...parsed, url, tls }
  })
}

/**
 * In which order hosts are tried: first the one that served last. After a failover, every new connection would otherwise
 * wait again for a machine that is gone.
 */
export class Hosts {
  readonly #all: readonly Host[]
  #last: Host

  constructor(address: string) {
    this.#all = hostsIn(address)
    this.#last = this.#all[0]!
  }

  get count(): number {
    return this.#all.length
  }

  inTurn(): Host[] {
    return [this.#last, ...this.#all.filter((host) => host !== this.#last)]
  }

  served(host: Host): void {
    this.#last = host
  }
}
