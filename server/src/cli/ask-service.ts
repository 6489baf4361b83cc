import type { Environment } from '../platform/config/index.ts'
import { StartFailure } from '../platform/start-failure.ts'
import { callApi } from './call-api.ts'
import { type Connection, type ConnectionOptions, connect } from './connection.ts'
import { CommandFailure, EXIT } from './exit.ts'
import type { Io } from './io.ts'

export interface AskOptions extends ConnectionOptions {
  /** Asks no service and uses the settings of this shell. */
  readonly local?: boolean
}

/** The process that answered. */
export interface AnsweredBy {
  readonly url: string
  readonly id: string
  readonly host: string
  readonly pid: number
  readonly version: string
}

/** Answer of a running service, or the reason why none was asked. */
export type ServiceAnswer<Item> =
  | { readonly answeredBy: AnsweredBy; readonly data: readonly Item[] }
  | { readonly answeredBy: null; readonly whyNot: string; readonly do?: string }

interface Question {
  readonly path: string
  readonly query?: Readonly<Record<string, string>>
}

/** A store that hangs delays an answer by 7 s. */
const TIMEOUT_MS = 10_000
const PROBE_TIMEOUT_MS = 2_000

export const answeredByText = ({ url, id, host, pid, version }: AnsweredBy): string =>
  `Answered by the service at ${url}: process ${id} (pid ${pid} on ${host}, Jeton ${version}).`

/** Asks the service that commands go to; if this shell names a port, the service of this shell. */
export async function askService<Item>(
  io: Io,
  options: AskOptions,
  question: Question,
): Promise<ServiceAnswer<Item>> {
  try {
    const url = options.url ?? (io.env.JETON_URL ? undefined : urlOfShell(io.env))
    if (url === null)
      return notAsked('the port in the settings of this shell is not the address of a service')
    const connection = connect(io, { ...options, ...(url !== undefined && { url }) })
    return connection.hasCredential()
      ? await ask<Item>(connection, question)
      : await withoutCredential(connection)
  } catch (error) {
    const isUsage = error instanceof CommandFailure && error.exitCode === EXIT.usage
    if (isUsage || !(error instanceof CommandFailure || error instanceof StartFailure)) throw error
    return notAsked(error.message.split('\n', 1)[0]!.replace(/\.$/, ''))
  }
}

const notAsked = (whyNot: string, remedy?: string) => ({
  answeredBy: null,
  whyNot,
  ...(remedy !== undefined && { do: remedy }),
})

/**
 * The address that a service started from this shell has. Undefined if the shell names none; null if it names a port
 * that cannot be asked: 0 is any free port.
 */
function urlOfShell({
  JETON_HOST,
  JETON_PORT,
  JETON_MANAGEMENT_PORT,
}: Environment): string | null | undefined {
  const port = JETON_MANAGEMENT_PORT || JETON_PORT
  if (!port && !JETON_HOST) return undefined
  const isPort = /^[1-9]\d{0,4}$/.test(port || '8080')
  return isPort ? reachableUrl(JETON_HOST || '127.0.0.1', port || '8080') : null
}

/** The address to connect to: a service that listens on all addresses is reached on the loopback one. */
export function reachableUrl(host: string, port: string | number): string {
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`
}

async function ask<Item>(connection: Connection, { path, query }: Question): Promise<ServiceAnswer<Item>> {
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  const { url } = connection
  try {
    const { json } = await callApi(connection, { method: 'GET', path, query, signal })
    const { data, process } = json as { data: Item[]; process: Omit<AnsweredBy, 'url'> }
    return { answeredBy: { url, ...process }, data }
  } catch (error) {
    if (signal.aborted) return notAsked(`${url} did not answer within ${TIMEOUT_MS / 1000} s`)
    if (error instanceof CommandFailure && error.status === 401)
      return notAsked(`the service at ${url} refused the credentials`, `jeton login --url ${url}`)
    if (error instanceof CommandFailure && error.status === 404)
      return notAsked(`the service at ${url} is of a version that cannot be asked`)
    throw error
  }
}

async function withoutCredential({ url }: Connection) {
  return (await isJeton(url))
    ? notAsked(`there are no credentials for the service at ${url}`, `jeton login --url ${url}`)
    : notAsked(`no service answers at ${url}`)
}

/** Every response of Jeton has a request id, whatever the path. */
export async function isJeton(url: string): Promise<boolean> {
  try {
    const response = await fetch(`${url}/health/live`, {
      signal: AbortSignal.timeout(PROBE_TIMEOUT_MS),
      redirect: 'manual',
    })
    await response.body?.cancel()
    return /^v-[0-9a-f]{18}$/.test(response.headers.get('x-request-id') ?? '')
  } catch {
    return false
  }
}
