import { createServer } from 'node:net'
import { portHolder } from '../../app/port-holder.ts'
import type { Config } from '../../platform/config/index.ts'
import { type Finding, failed, well } from './check.ts'

const ANSWER_WITHIN_MS = 2_000

export async function checkPorts(config: Config): Promise<Finding[]> {
  const { JETON_PORT, JETON_MANAGEMENT_PORT, JETON_HOST: host } = config
  const findings = [await checkPort({ host, port: JETON_PORT, setting: 'JETON_PORT', probe: '/health/live' })]
  if (JETON_MANAGEMENT_PORT !== undefined)
    findings.push(
      await checkPort({
        host,
        port: JETON_MANAGEMENT_PORT,
        setting: 'JETON_MANAGEMENT_PORT',
        probe: '/metrics',
      }),
    )
  return findings
}

interface Port {
  readonly host: string
  readonly port: number
  readonly setting: string
  /** A path that a Jeton answers on it. */
  readonly probe: string
}

async function checkPort({ host, port, setting, probe }: Port): Promise<Finding> {
  if (port === 0) return well('port', `${setting} is 0: any free one`)
  const code = await tryToListen(host, port)
  if (code === undefined) return well('port', `${host}:${port} is free`)
  if (code === 'EADDRINUSE')
    return (await isJeton(host, port, probe))
      ? well('port', `${host}:${port}: a Jeton answers there`)
      : taken(port, setting)
  if (code === 'EACCES') return failed('port', `${port} needs more rights than you have`, `${setting}=8080`)
  return failed(
    'port',
    `this machine has no address ${host} (${code})`,
    'JETON_HOST=127.0.0.1, or 0.0.0.0 for all',
  )
}

function taken(port: number, setting: string): Finding {
  const holder = portHolder(port)
  return failed(
    'port',
    `${port} is taken${holder ? ` by ${holder}` : ''}, and not by a Jeton`,
    `${setting}=${port + 1}`,
  )
}

/** The error that listening would meet, or undefined. The port is given back at once. */
function tryToListen(host: string, port: number): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>()
  const server = createServer()
  server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
  server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)))
  return promise
}

async function isJeton(host: string, port: number, probe: string): Promise<boolean> {
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
  const name = reachable.includes(':') ? `[${reachable}]` : reachable
  try {
    const response = await fetch(`http://${name}:${port}${probe}`, {
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
      redirect: 'manual',
    })
    const text = await response.text()
    return (
      response.status === 200 && (probe === '/metrics' ? text.includes('jeton_') : text.includes('"live"'))
    )
  } catch {
    return false
  }
}
