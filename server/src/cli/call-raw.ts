import type { Command } from 'commander'
import { contentOf, curlLine, openSession } from './call-api.ts'
import { addConnectionOptions, type ConnectionOptions, nameServer } from './connection.ts'
import { wrongUsage } from './exit.ts'
import { dataOf } from './fields.ts'
import { exampleText } from './format.ts'
import { type Io, printLine } from './io.ts'

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

interface RawOptions extends ConnectionOptions {
  readonly data?: string
  readonly curl?: boolean
}

/** Sends one request as given and prints the response unchanged. */
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
  if (method === 'GET' && contentOf(request)) throw wrongUsage('GET takes no body. Remove --data.')
  if (options.curl) return printLine(io, curlLine(session.connection.url, request))
  if (method !== 'GET') nameServer(io, session.connection)
  const { text } = await session.call(request)
  if (text) printLine(io, text)
}

export function addCallRaw(program: Command, io: Io): void {
  const command = program
    .command('api')
    .summary('send a raw request to the management API')
    .description('Sends one request with your credential and prints the response.')
    .argument('<method>', 'GET, POST, PATCH, PUT or DELETE')
    .argument('<path>', '/management/v1/…')
    .option('--data <json>', 'body: JSON, @file, or - for standard input')
    .option('--curl', 'print the request as a curl command instead of sending it')
    .addHelpText(
      'after',
      exampleText([
        'jeton api GET /management/v1/projects',
        'jeton api POST /management/v1/projects --data \'{"name":"Club"}\'',
      ]),
    )
  addConnectionOptions(command)
  command.action((method, path, options) => callRaw(io, { method, path }, options))
}
