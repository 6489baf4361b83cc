import { callApi } from './call-api.ts'
import { type ConnectionOptions, connect } from './connection.ts'
import { type Io, printLine } from './io.ts'
import type { List } from './pages.ts'
import type { Output } from './print-answer.ts'
import { printTable } from './print-table.ts'

/** What can be subscribed to. Anyone may ask, and clients ask where they call, which may be another port. */
export async function eventKinds(io: Io, options: ConnectionOptions & Output): Promise<void> {
  const connection = connect(io, options)
  const request = { method: 'GET', path: '/events', credential: {} }
  const answer = await callApi({ ...connection, url: connection.apiUrl }, request)
  if (options.json) return printLine(io, answer.text)
  const { data } = answer.json as List
  if (options.quiet) for (const { kind } of data) printLine(io, String(kind))
  else printTable(io, ['kind', 'type', 'version', 'description', 'url'], data)
}
