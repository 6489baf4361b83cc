import type { ConnectionOptions } from 'node:tls'
import { isPoolExhausted } from './errors.ts'
import { tlsAttempts } from './tls.ts'

/** One way to connect: a host of the address, with or without TLS. */
export interface Host {
  readonly host: string
  readonly port: number
  readonly user: string
  readonly password: string
  readonly database: string
  /** Settings of the session, as PostgreSQL takes them on its command line. */
  readonly options: string
  readonly ssl: false | ConnectionOptions
}

const DEFAULT_PORT = 5432

/** Parameters of an address that are for the client: the rest are settings of the session. */
const CLIENT_PARAMETERS = new Set([
  'application_name',
  'connect_timeout',
  'sslmode',
  'sslrootcert',
  'target_session_attrs',
])

/** `a:5433`, `a`, `[::1]:5433`. */
function parseHost(text: string): { host: string; port: number } {
  const [, host = text, port] = /^(.*?)(?::(\d+))?$/.exec(text)!
  return { host: host.replace(/^\[(.*)\]$/, '$1'), port: port ? Number(port) : DEFAULT_PORT }
}

const sessionOptions = (parameters: URLSearchParams): string =>
  [...parameters]
    .filter(([name]) => !CLIENT_PARAMETERS.has(name))
    .map(([name, value]) => (name === 'options' ? value : `-c ${name}=${value.replace(/[\\ ]/g, '\\$&')}`))
    .join(' ')

/** Every host of `postgres://user:password@a:5432,b:5432/database?…`, which is not a valid URL with several hosts. */
export function hostsIn(address: string): Host[] {
  const [, scheme, authority, rest] = /^(postgres(?:ql)?:\/\/)([^/]*)(.*)$/.exec(address)!
  // A password may contain an `@` or a comma; a host cannot.
  const at = authority!.lastIndexOf('@') + 1
  const [user, names] = [authority!.slice(0, at), authority!.slice(at)]
  return names.split(',').flatMap((name) => {
    const url = new URL(`${scheme}${user}${name}${rest}`)
    const host = {
      ...parseHost(name),
      user: decodeURIComponent(url.username),
      password: decodeURIComponent(url.password),
      database: decodeURIComponent(url.pathname.slice(1)),
      options: sessionOptions(url.searchParams),
    }
    return tlsAttempts(host.host, url.searchParams).map((ssl) => ({ ...host, ssl }))
  })
}

/**
 * The order in which hosts are tried: first the one that answered last. Otherwise every new connection after a failover
 * would wait for a machine that is gone.
 */
export class Hosts {
  readonly all: readonly Host[]
  #current = 0

  constructor(address: string) {
    this.all = hostsIn(address)
  }

  get current(): Host {
    return this.all[this.#current]!
  }

  /** Tries `connect` with each host as the current one, until it succeeds. Fails with the error of the first host. */
  async connect<T>(connect: () => Promise<T>): Promise<T> {
    let failure: unknown
    for (let tries = 0; tries < this.all.length; tries++) {
      const tried = this.#current
      try {
        return await connect()
      } catch (error) {
        if (isPoolExhausted(error)) throw error
        failure ??= error
        // Another caller may have moved on meanwhile.
        if (this.#current === tried) this.#current = (tried + 1) % this.all.length
      }
    }
    throw failure
  }
}
