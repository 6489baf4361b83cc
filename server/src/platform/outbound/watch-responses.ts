import type { Socket } from 'node:net'

/**
 * Limit for all bytes of one response. Headers and body have their own limits. This one covers everything else, such as
 * chunk extensions and interim responses.
 */
export const MAX_RESPONSE_BYTES = 1024 * 1024

export class ResponseTooLarge extends Error {
  override readonly name = 'ResponseTooLarge'
}

/** Errors of connections that had already answered a request. */
const ofReused = new WeakSet<Error>()
export const isOfReusedConnection = (error: Error): boolean => ofReused.has(error)

/** Closes a connection whose response is too large, and records whether a failed connection had answered before. */
export function watchResponses(socket: Socket): void {
  let [written, read] = [socket.bytesWritten, socket.bytesRead]
  let responseStart = read
  let hasAnswered = false
  socket.on('readable', () => {
    // After a new request was written, the next bytes start a new response.
    if (socket.bytesWritten > written) {
      written = socket.bytesWritten
      responseStart = read
    }
    read = socket.bytesRead
    // The event also signals the end of the stream, when there is nothing to read.
    if (socket.readableLength > 0) hasAnswered = true
    if (read - responseStart > MAX_RESPONSE_BYTES) socket.destroy(new ResponseTooLarge())
  })
  socket.prependListener('error', (error) => {
    if (hasAnswered) ofReused.add(error)
  })
}
