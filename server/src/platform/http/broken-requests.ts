import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Problem } from '../../contract/problem.ts'
import { errorBody } from './error-answers.ts'
import { newRequestId } from './request-id.ts'

function problemOf(code: string | undefined): Problem {
  if (code === 'HPE_HEADER_OVERFLOW')
    return new Problem('headers_too_large', {
      message: 'The headers are larger than 16 KB.',
      details: 'Send fewer or shorter headers.',
    })
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return new Problem('request_timeout', {
      message: 'The request did not arrive in time.',
      details: 'Send it again, faster.',
    })
  return new Problem('invalid_payload', {
    message: 'This is not a valid HTTP request.',
    details: 'Check method, headers and line ends.',
  })
}

/** Answers what is not even HTTP, straight on the socket, with the same body as every other error. */
function answerNow(error: NodeJS.ErrnoException, socket: Socket, publicUrl: string): void {
  if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy()
  const problem = problemOf(error.code)
  const requestId = newRequestId()
  const body = JSON.stringify(errorBody(problem, { requestId, oauth: false, publicUrl }))
  socket.end(
    `HTTP/1.1 ${problem.status} ${problem.key}\r\ncontent-type: application/json; charset=utf-8\r\n` +
      `x-request-id: ${requestId}\r\ncache-control: no-store\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  )
}

/**
 * Answers broken requests in their turn: every request has one answer, and whoever shares the connection must not take one
 * for another's. So what breaks off after it was answered (refused before its body had come, say) gets no second answer,
 * and what follows a request that is still being worked on waits for its answer.
 */
export function createBrokenRequestAnswers(publicUrl: () => string) {
  const latest = new WeakMap<Socket, ServerResponse>()

  return {
    watch(server: Server): void {
      server.prependListener('request', ({ socket }, response) => latest.set(socket, response))
    },
    answer(error: NodeJS.ErrnoException, socket: Socket): void {
      const response = latest.get(socket)
      // The answer whose turn it is; Node has no other name for it.
      const { _httpMessage: first } = socket as { _httpMessage?: ServerResponse | null }
      if (first && first !== response) return void first.once('close', () => this.answer(error, socket))
      const request = response?.req
      const answered = () => {
        if (request?.complete === false) socket.destroySoon()
        else answerNow(error, socket, publicUrl())
      }
      const isWaitedFor = response !== undefined && !response.writableFinished && !response.destroyed
      const isTheBroken = request?.complete === false && response?.headersSent === false
      if (!isWaitedFor) answered()
      else if (isTheBroken) answerNow(error, socket, publicUrl())
      else response.once('close', answered)
    },
  }
}
