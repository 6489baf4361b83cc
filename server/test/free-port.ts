import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

/**
 * Below the ephemeral ports of the system (Linux from 32768, others from 49152). No other listener or connection of a
 * test is given such a port, not even while its owner restarts.
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
