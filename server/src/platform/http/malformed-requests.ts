import type { Socket } from 'node:net'
import { Problem } from '../../contract/problem.ts'
import { errorBody, invalidPayload } from './errors.ts'
import { newRequestId } from './request-id.ts'

const TOO_LARGE = { message: 'The headers are larger than 16 KB.', details: 'Send fewer or shorter headers.' }
const TOO_LATE = {
  message: 'The request did not arrive in time.',
  details: 'Retry. The request took too long to arrive.',
}

function problemOf(code: string | undefined): Problem {
  if (code === 'HPE_HEADER_OVERFLOW') return new Problem('headers_too_large', TOO_LARGE)
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new Problem('request_timeout', TOO_LATE)
  return invalidPayload('This is not a valid HTTP request.', 'Check the method, headers and line endings.')
}

/** Answers a request that Node could not parse directly on the socket, with the same body as every other error. */
export function answerMalformed(error: NodeJS.ErrnoException, socket: Socket, publicUrl: string): void {
  if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy()
  const problem = problemOf(error.code)
  const requestId = newRequestId()
  const body = JSON.stringify(errorBody(problem, { requestId, oauth: false, publicUrl }))
  socket.end(
    `HTTP/1.1 ${problem.status} ${problem.key}\r\ncontent-type: application/json; charset=utf-8\r\n` +
      `x-request-id: ${requestId}\r\ncache-control: no-store\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  )
}
