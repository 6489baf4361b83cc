import { createServer, type ListenOptions, type Server } from 'node:net'
import { type ListenAddress, whyNoListener } from './listen.ts'

/**
 * Workers share a port (SO_REUSEPORT), and the system lets every process of the same user share it with them: another
 * Jeton, started by mistake, would get half of the requests. So before the workers listen we make sure that nobody else
 * does. The name, which is freed when this process ends, keeps away a second one that makes sure at the same moment.
 */
export async function claimPort(place: ListenAddress): Promise<void> {
  const { host, port } = place
  if (port === 0) return
  try {
    const claim = await listening({ path: `\0jeton ${host}:${port}` })
    claim.unref()
    const probe = await listening({ host, port })
    await new Promise((resolve) => probe.close(resolve))
  } catch (error) {
    throw whyNoListener(error as NodeJS.ErrnoException, place)
  }
}

function listening(where: ListenOptions): Promise<Server> {
  const server = createServer()
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(where, () => resolve(server))
  })
}
