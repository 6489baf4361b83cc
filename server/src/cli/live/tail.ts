import { plain } from '../cells.ts'
import type { ConnectionOptions } from '../connection.ts'
import { type Io, printLine, remark } from '../io.ts'
import type { Output } from '../print-answer.ts'
import { projectId } from '../resolve.ts'
import { openSession } from '../session.ts'
import { EventFeed, type EventHead } from './event-feed.ts'
import { follow } from './follow.ts'
import { clockTime, type FollowOptions, mostOf, sinceOf, startedText } from './options.ts'

interface TailOptions extends ConnectionOptions, FollowOptions, Output {
  readonly project?: string
  readonly kind?: string
}

/** Prints events as they are written. */
export async function tail(io: Io, options: TailOptions): Promise<void> {
  const most = mostOf(options)
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
    most,
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
