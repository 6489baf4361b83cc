import type { Command } from 'commander'
import { openSession } from './call-api.ts'
import { addConnectionOptions, type ConnectionOptions } from './connection.ts'
import { exampleText } from './format.ts'
import { type Io, printLine, remark } from './io.ts'

/** Signs a browser in with a link that works once. */
export async function openConsole(io: Io, options: ConnectionOptions & { print?: boolean }): Promise<void> {
  const { call } = openSession(io, options)
  const { url, expires_at } = (await call({ method: 'POST', path: '/management/v1/login-codes' })).json as {
    url: string
    expires_at: string
  }
  printLine(io, url)
  const seconds = Math.max(0, Math.round((Date.parse(expires_at) - io.now()) / 1000))
  const isOpened = !options.print && io.isTTY && (await io.openBrowser?.(url))
  remark(
    io,
    `${isOpened ? 'Opened in the browser.' : 'Open this link in a browser.'} It signs in once, within ${seconds} s.`,
  )
}

export function addConsole(program: Command, io: Io): void {
  const command = program
    .command('console')
    .summary('open the web console, signed in')
    .description(
      'Creates a link that signs a browser in to the web console as your operator, prints it and opens the browser. The link works once, for 60 s.',
    )
    .option('--print', 'print the link without opening the browser')
    .addHelpText('after', exampleText(['jeton console', 'jeton console --print | wl-copy']))
  addConnectionOptions(command)
  command.action((options) => openConsole(io, options))
}
