import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import type { Hosts } from './hosts.ts'
import { HostClient } from './primary-pool.ts'

/** One channel for all topics; the payload is the topic. */
export const CHANNEL = 'jeton_wake'

/** Pause before a reconnect. Subscribers poll in the meantime. */
const RECONNECT_MS = 500
/** A silent connection may have lost its peer, so it is checked at this interval. */
const PING_EVERY_MS = 15_000

/** Notifies subscribers of topics, over one listening connection that reconnects when it is lost. */
export class Notifications {
  readonly #hosts: Hosts
  readonly #subscribers = new Map<string, Set<() => void>>()
  readonly #closing = new AbortController()
  #isListening = false

  constructor(hosts: Hosts) {
    this.#hosts = hosts
  }

  subscribe(topic: string, listener: () => void): () => void {
    const listeners = this.#subscribers.get(topic) ?? new Set()
    this.#subscribers.set(topic, listeners.add(listener))
    if (!this.#isListening) void this.#listen()
    this.#isListening = true
    return () => void listeners.delete(listener)
  }

  close(): void {
    this.#closing.abort()
  }

  #notify(topic: string): void {
    for (const listener of this.#subscribers.get(topic) ?? []) listener()
  }

  async #listen(): Promise<void> {
    const { signal } = this.#closing
    while (!signal.aborted) {
      await this.#listenOnce().catch(() => undefined)
      await wait(RECONNECT_MS, undefined, { signal }).catch(() => undefined)
    }
  }

  /** Listens until the connection is lost or closed. */
  async #listenOnce(): Promise<void> {
    const client = await this.#hosts.connect(() => this.#connect())
    const lost = once(client, 'end', { signal: this.#closing.signal }).catch(() => undefined)
    const pings = setInterval(() => client.query('select 1').catch(() => undefined), PING_EVERY_MS)
    try {
      client.on('notification', ({ channel, payload }) => {
        if (channel === CHANNEL) this.#notify(payload!)
      })
      await client.query(`listen ${CHANNEL}`)
      // Notifications may have been missed, so every topic counts as changed.
      for (const topic of this.#subscribers.keys()) this.#notify(topic)
      await lost
    } finally {
      clearInterval(pings)
      void client.end().catch(() => undefined)
    }
  }

  async #connect(): Promise<HostClient> {
    const client = new HostClient(this.#hosts)
    try {
      await client.connect()
      await client.startSession()
      return client
    } catch (error) {
      void client.end().catch(() => undefined)
      throw error
    }
  }
}
