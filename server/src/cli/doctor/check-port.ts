import { createServer } from 'node:net'
import type { StoreExamined } from '../../app/checks/check-store.ts'
import { type Finding, failed, ok, unknown } from '../../app/checks/finding.ts'
import { portHolder } from '../../app/port-holder.ts'
import { hasAuditEntry } from '../../features/audit/index.ts'
import type { Config } from '../../platform/config/index.ts'
import { isJeton, reachableUrl } from '../ask-service.ts'
import { exchange } from '../call-api.ts'
import { connect } from '../connection.ts'
import type { Io } from '../io.ts'
import type { List } from '../resolve.ts'
import { openExisting, storeExists } from '../store.ts'

const TIMEOUT_MS = 2_000

interface PortContext {
  readonly io: Io
  readonly config: Config
  readonly store: StoreExamined
}

export async function checkPorts(around: PortContext): Promise<Finding[]> {
  const { JETON_PORT, JETON_MANAGEMENT_PORT, JETON_HOST: host } = around.config
  const isApart = JETON_MANAGEMENT_PORT !== undefined
  const ports: Port[] = [{ host, port: JETON_PORT, setting: 'JETON_PORT', hasManagement: !isApart }]
  if (isApart)
    ports.push({ host, port: JETON_MANAGEMENT_PORT, setting: 'JETON_MANAGEMENT_PORT', hasManagement: true })
  return Promise.all(ports.map((port) => checkPort(around, port)))
}

interface Port {
  readonly host: string
  readonly port: number
  readonly setting: string
  /** Whether the management API is served there. */
  readonly hasManagement: boolean
}

async function checkPort(around: PortContext, where: Port): Promise<Finding> {
  const { host, port, setting } = where
  if (port === 0) return ok('port', `${setting} is 0: any free port`)
  const code = await tryToListen(host, port)
  if (code === undefined) return ok('port', `${host}:${port} is free`)
  if (code === 'EADDRINUSE')
    return (await isJeton(reachableUrl(host, port)))
      ? checkStoreOfServer(around, where)
      : taken(port, setting)
  if (code === 'EACCES') return failed('port', `${port} requires root privileges`, `${setting}=8080`)
  return failed('port', `cannot listen on ${host} (${code})`, 'JETON_HOST=127.0.0.1, or 0.0.0.0 for all')
}

/** Checks whether the Jeton on this port uses this store. Only an operator can compare the contents. */
async function checkStoreOfServer(around: PortContext, where: Port): Promise<Finding> {
  const { host, port, setting, hasManagement } = where
  const running = `Jeton is running at ${host}:${port}`
  if (!hasManagement) return unknown('port', `${running}; its store is only visible at JETON_MANAGEMENT_PORT`)
  const url = reachableUrl(host, port)
  const isSame = await compareStores(around, url)
  if (isSame) return ok('port', `${running}, with this store`)
  if (isSame === undefined)
    return unknown(
      'port',
      `${running}. Checking whether it uses this store requires an operator there`,
      `jeton login --url ${url}`,
    )
  return failed(
    'port',
    `${running}, with another store`,
    `${setting}=${port + 1}\nor use the settings of that service: JETON_DATA_DIR or JETON_DATABASE_URL`,
  )
}

/** Looks for the server's newest audit entry in this store: ids are random, and entries are never removed. */
async function compareStores({ io, config, store }: PortContext, url: string): Promise<boolean | undefined> {
  if (!storeExists(config)) return false
  const newest = store.isSeen ? await newestAuditEntry(io, url) : undefined
  if (newest === undefined) return undefined
  const db = await openExisting(config)
  return hasAuditEntry(db, newest).finally(() => db.close())
}

/** Returns undefined without a credential that can read it. */
async function newestAuditEntry(io: Io, url: string): Promise<string | undefined> {
  const signal = AbortSignal.timeout(TIMEOUT_MS)
  const request = { method: 'GET', path: '/management/v1/audit-log', query: { limit: '1' }, signal }
  try {
    const { response, text } = await exchange(connect(io, { url }), request)
    return response.status === 200 ? ((JSON.parse(text) as List).data[0]?.id as string) : undefined
  } catch {
    return undefined
  }
}

function taken(port: number, setting: string): Finding {
  const holder = portHolder(port)
  return failed(
    'port',
    `${port} is in use${holder ? ` by ${holder}` : ''}, not by Jeton`,
    `${setting}=${port + 1}`,
  )
}

/** The error code of listening, or undefined. The port is released immediately. */
function tryToListen(host: string, port: number): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>()
  const server = createServer()
  server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
  server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)))
  return promise
}
