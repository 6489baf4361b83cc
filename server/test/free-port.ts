import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

/**
 * Below the ports that the system hands out by itself (Linux from 32768, others from 49152): what listens on a port of its
 * choice, or connects from one, in this test or in another that runs beside it, never takes one that was found here, not
 * even while whoever it is for is away.
 */
const [LOWEST, HIGHEST] = [15_000, 32_000]

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })

/** A port on which nobody listens, for those who must know it before they listen, or come back to it. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(LOWEST, HIGHEST)
    if (await isFree(port)) return port
  }
}
