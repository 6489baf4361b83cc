import type { App } from '../platform/http/index.ts'
import { StartFailure } from '../platform/start-failure.ts'
import { portHolder } from './port-holder.ts'

/** Opens the listener; its address as a client would write it. */
export async function listen(app: App, host: string, port: number, setting: string): Promise<string> {
  try {
    await app.listen({ host, port })
  } catch (error) {
    throw explained(error as NodeJS.ErrnoException, host, port, setting)
  }
  const address = app.server.address()
  const bound = typeof address === 'object' && address ? address.port : port
  return `http://${host.includes(':') ? `[${host}]` : host}:${bound}`
}

function explained(error: NodeJS.ErrnoException, host: string, port: number, setting: string): Error {
  switch (error.code) {
    case 'EADDRINUSE': {
      const holder = portHolder(port)
      return new StartFailure(
        `Port ${port} is taken${holder ? ` by ${holder}` : ''}. Use another: ${setting}=${port + 1} npm start`,
      )
    }
    case 'EACCES':
      return new StartFailure(
        `Port ${port} needs more rights than this user has. Use one above 1023: ${setting}=8080 npm start`,
      )
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new StartFailure(
        `JETON_HOST: this machine has no address ${host}. Use 127.0.0.1, or 0.0.0.0 for all.`,
      )
    default:
      return error
  }
}
