import type { ConnectionOptions } from 'node:tls'
import { isPoolExhausted } from './errors.ts'
import { tlsAttempts } from './tls.ts'

/** One connection target: a host of the URL, with or without TLS. */
export interface Host {
  readonly host: string
  readonly port: number
  readonly user: string
  readonly password: string
  readonly database: string
  /** Session settings, in the format of PostgreSQL's command line. */
  readonly options: string
  readonly ssl: false | ConnectionOptions
}

const DEFAULT_PORT = 5432

/** URL parameters for the client. All others are session settings. */
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

/** Parses every host of `postgres://user:password@a:5432,b:5432/database?…`, which is not a valid URL. */
export function hostsIn(address: string): Host[] {
  const [, scheme, authority, rest] = /^(postgres(?:ql)?:\/\/)([^/]*)(.*)$/.exec(address)!
  // A password may contain `@` or a comma; a host cannot.
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
 * would wait for the failed host.
 */
export class Hosts {
  readonly all: readonly Host[]
  #current = 0
  #primary: Host | undefined

  constructor(address: string) {
    this.all = hostsIn(address)
  }

  get current(): Host {
    return this.all[this.#current]!
  }

  /** Remembers the host that was the primary last, and tries it first. */
  notePrimary(host: Host): void {
    this.#primary = host
    this.#current = this.all.indexOf(host)
  }

  /** True if another host has become the primary since. */
  isFormerPrimary({ host, port }: Host): boolean {
    return this.#primary !== undefined && (this.#primary.host !== host || this.#primary.port !== port)
  }

  /** Calls `connect` with each host as the current one until it succeeds. Throws the error of the first host. */
  async connect<T>(connect: () => Promise<T>): Promise<T> {
    let failure: unknown
    for (let tries = 0; tries < this.all.length; tries++) {
      const tried = this.#current
      try {
        return await connect()
      } catch (error) {
        if (isPoolExhausted(error)) throw error
        failure ??= error
        // Another caller may have switched hosts meanwhile.
        if (this.#current === tried) this.#current = (tried + 1) % this.all.length
      }
    }
    throw failure
  }
}
