import type { Config } from '../platform/config/index.ts'
import type { App } from '../platform/http/index.ts'
import { StartFailure } from '../platform/start-failure.ts'
import { portHolder } from './port-holder.ts'

export interface ListenAddress {
  readonly host: string
  readonly port: number
  /** Name of the setting of the port. */
  readonly setting: string
}

/** Addresses to listen on: the public one, and the management one if it has its own port. */
export function listenAddresses({
  JETON_HOST: host,
  JETON_PORT,
  JETON_MANAGEMENT_PORT,
}: Config): ListenAddress[] {
  const address = { host, port: JETON_PORT, setting: 'JETON_PORT' }
  if (JETON_MANAGEMENT_PORT === undefined) return [address]
  return [address, { host, port: JETON_MANAGEMENT_PORT, setting: 'JETON_MANAGEMENT_PORT' }]
}

/** Opens the listener and returns its URL. `shared`: with the other HTTP processes of the service. */
export async function listen(app: App, address: ListenAddress, shared = false): Promise<string> {
  const { host, port } = address
  try {
    await app.listen({ host, port, ...(shared && { reusePort: true }) } as { host: string; port: number })
  } catch (error) {
    throw whyNoListener(error as NodeJS.ErrnoException, address)
  }
  const listening = app.server.address()
  const bound = typeof listening === 'object' && listening ? listening.port : port
  return `http://${host.includes(':') ? `[${host}]` : host}:${bound}`
}

/** Explains in one line why listening failed, with a remedy. */
export function whyNoListener(error: NodeJS.ErrnoException, { host, port, setting }: ListenAddress): Error {
  switch (error.code) {
    case 'EADDRINUSE': {
      const holder = portHolder(port)
      return new StartFailure(
        `Port ${port} is taken${holder ? ` by ${holder}` : ''}. Use another: ${setting}=${port + 1} npm start`,
      )
    }
    case 'EACCES':
      return new StartFailure(
        `Permission denied for port ${port}. Use a port above 1023: ${setting}=8080 npm start`,
      )
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new StartFailure(
        `JETON_HOST: this machine has no address ${host}. Use 127.0.0.1, or 0.0.0.0 for all addresses.`,
      )
    default:
      return error
  }
}
