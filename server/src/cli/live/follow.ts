import { CommandFailure } from '../exit.ts'
import { type Io, type Live, remark } from '../io.ts'
import type { EventFeed, EventHead } from './event-feed.ts'

const LOOK_EVERY_MS = 1_000
const LONGEST_WAIT_MS = 10_000

interface Following {
  readonly feed: EventFeed
  readonly live: Live
  /** True where it was shown, and so counts. A failure that may pass lets the same event come again. */
  handle(event: EventHead): Promise<boolean>
  /** Ends after so many. */
  readonly most?: number | undefined
}

/** Handles each event as it comes, until it is stopped. While the server is away it waits, and says so once. */
export async function follow(io: Io, { feed, live, handle, most }: Following): Promise<void> {
  let shown = 0
  let failures = 0
  const succeeded = () => {
    if (failures > 0) remark(io, 'It is back; nothing was skipped.')
    failures = 0
  }
  while (!live.stopped.aborted) {
    try {
      for (const event of await feed.look()) {
        if (live.stopped.aborted) return
        if (await handle(event)) shown++
        succeeded()
        feed.done(event)
        if (shown === most) return
      }
      succeeded()
    } catch (error) {
      if (live.stopped.aborted) return
      if (!(error instanceof CommandFailure && error.mayPass)) throw error
      if (failures++ === 0) remark(io, `${firstLine(error.message)} Trying again until it is back.`)
    }
    await live.wait(Math.min(LOOK_EVERY_MS * 2 ** failures, LONGEST_WAIT_MS))
  }
}

const firstLine = (text: string): string => text.split('\n', 1)[0]!
