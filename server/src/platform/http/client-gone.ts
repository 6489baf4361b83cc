import type { FastifyReply } from 'fastify'

/**
 * Aborts when the client disconnects before its response is sent. The `signal` of Fastify follows the request, which is
 * over as soon as its body has been read.
 */
export function clientGone({ raw }: Pick<FastifyReply, 'raw'>): AbortSignal {
  const gone = new AbortController()
  raw.once('close', () => {
    if (!raw.writableEnded) gone.abort()
  })
  return gone.signal
}
