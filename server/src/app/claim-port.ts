import { createServer, type ListenOptions, type Server } from 'node:net'
import { type ListenAddress, whyNoListener } from './listen.ts'

/**
 * HTTP processes share a port (SO_REUSEPORT), and the system lets every process of the same user share it too: another
 * Jeton, started by mistake, would get half of the requests. So this checks that nobody else listens before the processes
 * start. The abstract socket, which is freed when this process ends, excludes a second Jeton that checks at the same time.
 */
export async function claimPort(address: ListenAddress): Promise<void> {
  const { host, port } = address
  if (port === 0) return
  try {
    const claim = await listening({ path: `\0jeton ${host}:${port}` })
    claim.unref()
    const probe = await listening({ host, port })
    await new Promise((resolve) => probe.close(resolve))
  } catch (error) {
    throw whyNoListener(error as NodeJS.ErrnoException, address)
  }
}

function listening(where: ListenOptions): Promise<Server> {
  const server = createServer()
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(where, () => resolve(server))
  })
}
