import { contentOf } from './call-api.ts'
import { type ConnectionOptions, nameServer } from './connection.ts'
import { curlLine } from './curl.ts'
import { wrongUsage } from './exit.ts'
import { dataOf } from './fields.ts'
import { type Io, printLine } from './io.ts'
import { openSession } from './session.ts'

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

interface RawOptions extends ConnectionOptions {
  readonly data?: string
  readonly curl?: boolean
}

/** One request as it was typed, and the answer as it came. */
export async function callRaw(
  io: Io,
  typed: { method: string; path: string },
  options: RawOptions,
): Promise<void> {
  const method = typed.method.toUpperCase()
  if (!METHODS.includes(method)) throw wrongUsage(`The method must be one of ${METHODS.join(', ')}.`)
  if (!typed.path.startsWith('/'))
    throw wrongUsage('The path must start with /, such as /management/v1/projects.')
  const session = openSession(io, options)
  const body = options.data === undefined ? undefined : await dataOf(io, options.data)
  const request = { method, path: typed.path, body }
  if (method === 'GET' && contentOf(request)) throw wrongUsage('A GET has no body. Leave --data out.')
  if (options.curl) return printLine(io, curlLine(session.connection.url, request))
  if (method !== 'GET') nameServer(io, session.connection)
  const { text } = await session.call(request)
  if (text) printLine(io, text)
}
