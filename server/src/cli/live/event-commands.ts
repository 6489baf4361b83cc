import type { Command } from 'commander'
import { callApi, openSession } from '../call-api.ts'
import { addConnectionOptions, type ConnectionOptions, connect } from '../connection.ts'
import { exampleText, plain } from '../format.ts'
import { type Io, printLine, remark } from '../io.ts'
import { PROJECT_TEXT } from '../key-pair.ts'
import { printTable } from '../print.ts'
import type { Output } from '../print-answer.ts'
import { type List, projectId } from '../resolve.ts'
import {
  clockTime,
  EventFeed,
  type EventHead,
  type FollowOptions,
  follow,
  maxEventsOf,
  SINCE_TEXT,
  sinceOf,
  startedText,
} from './event-feed.ts'

interface TailOptions extends ConnectionOptions, FollowOptions, Output {
  readonly project?: string
  readonly kind?: string
}

/** Prints events as they are written. */
export async function tail(io: Io, options: TailOptions): Promise<void> {
  const max = maxEventsOf(options)
  const since = sinceOf(io, options)
  const session = openSession(io, options)
  const project = await projectId(session)
  const live = io.goLive()
  const { kind } = options
  const feed = new EventFeed(session, { projectId: project, since, kind, signal: live.stopped })
  await feed.start()
  if (io.isTTY) remark(io, startedText(feed, options))
  await follow(io, {
    feed,
    live,
    max,
    async handle(event) {
      printLine(io, lineOf(io, event, options))
      return true
    },
  })
}

function lineOf(io: Io, event: EventHead, { json, quiet }: Output): string {
  if (quiet) return event.id
  if (json) return JSON.stringify(event)
  const { id, type, entity_id, campaign_id, created_at } = event
  if (io.isTTY) return `${clockTime(created_at)}  ${plain(type)}  ${id}  ${plain(entity_id)}`
  return [created_at, id, type, entity_id, campaign_id ?? ''].map(plain).join('\t')
}

/** Lists event kinds. The endpoint needs no credential and is on the port for API clients. */
export async function eventKinds(io: Io, options: ConnectionOptions & Output): Promise<void> {
  const connection = connect(io, options)
  const request = { method: 'GET', path: '/events', credential: {} }
  const answer = await callApi({ ...connection, url: connection.apiUrl }, request)
  if (options.json) return printLine(io, answer.text)
  const { data } = answer.json as List
  if (options.quiet) for (const { kind } of data) printLine(io, String(kind))
  else printTable(io, ['kind', 'type', 'version', 'description', 'url'], data)
}

export function addTail(event: Command, io: Io): void {
  const command = event
    .command('tail')
    .summary('Print events as they are written')
    .description('Prints events as they are written, until it is stopped. None is skipped.')
    .option('--since <when>', SINCE_TEXT)
    .option('--kind <text>', 'only events of this kind or type')
    .option('--events <number>', 'exit after N events')
    .option('--project <project>', PROJECT_TEXT)
    .addHelpText('after', exampleText(['jeton event tail', 'jeton event tail --since 1h --json']))
  addConnectionOptions(command)
    .optionsGroup('Output')
    .option('--json', 'one line of JSON per event')
    .option('--quiet', 'ids only')
  command.action((options) => tail(io, options))
}

export function addEventKinds(event: Command, io: Io): void {
  const command = event
    .command('kinds')
    .summary('List event kinds')
    .description('Lists the event kinds that webhooks can subscribe to, with the URL of their JSON Schema.')
  addConnectionOptions(command)
    .optionsGroup('Output')
    .option('--json', 'raw API response')
    .option('--quiet', 'kinds only')
  command.action((options) => eventKinds(io, options))
}
