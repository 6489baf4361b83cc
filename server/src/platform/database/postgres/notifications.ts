import { Connection } from './connection.ts'
import type { Hosts } from './hosts.ts'

/** One channel; the payload is the topic. */
export const CHANNEL = 'jeton_wake'

/** Between two tries to reach the store: polling covers the time until then. */
const PAUSE_MS = 500
/** A connection that hears nothing may be one that nobody is at the other end of: it asks from time to time. */
const ASK_EVERY_MS = 15_000

const pause = (ms: number, until: Promise<unknown>): Promise<unknown> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    void until.then(() => {
      clearTimeout(timer)
      resolve(undefined)
    })
  })

/** Topics and who wants to hear of them, over one listening connection that is made anew whenever it was lost. */
export function createNotifications(hosts: Hosts) {
  const topics = new Map<string, Set<() => void>>()
  const over = Promise.withResolvers<void>()
  let isOver = false
  let connection: Connection | undefined
  let listening = false

  const hear = (topic: string) => {
    for (const heard of topics.get(topic) ?? []) heard()
  }
  // A listener that has reconnected may have missed some: then every topic is woken.
  const hearAll = () => {
    for (const topic of topics.keys()) hear(topic)
  }

  async function listenOnce(): Promise<void> {
    const current = new Connection(hosts, (channel, topic) => {
      if (channel === CHANNEL) hear(topic)
    })
    connection = current
    await current.open()
    await current.query(`listen ${CHANNEL}`)
    hearAll()
    while (!current.isDead && !isOver) {
      await pause(ASK_EVERY_MS, Promise.race([current.closed, over.promise]))
      if (!current.isDead && !isOver) await current.query('select 1')
    }
  }

  async function listen(): Promise<void> {
    while (!isOver) {
      await listenOnce().catch(() => undefined)
      connection?.close()
      if (!isOver) await pause(PAUSE_MS, over.promise)
    }
  }

  return {
    subscribe(topic: string, listener: () => void): () => void {
      const listeners = topics.get(topic) ?? new Set()
      topics.set(topic, listeners.add(listener))
      if (!listening) void listen()
      listening = true
      return () => void listeners.delete(listener)
    },
    close(): void {
      isOver = true
      over.resolve()
      connection?.close()
    },
  }
}
