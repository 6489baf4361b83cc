import { useSyncExternalStore } from 'react'

export interface Connection {
  readonly isReachable: boolean
  /** Last answer of the server, epoch milliseconds. */
  readonly contactAt: number
}

let connection: Connection = { isReachable: true, contactAt: Date.now() }
const listeners = new Set<() => void>()

function change(next: Connection): void {
  const isNews = next.isReachable !== connection.isReachable
  connection = next
  if (isNews) for (const listener of listeners) listener()
}

export const noteContact = (): void => change({ isReachable: true, contactAt: Date.now() })
export const noteFailure = (): void => change({ ...connection, isReachable: false })

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Whether the server answered the last request. Pages keep showing the last state if not. */
export const useConnection = (): Connection => useSyncExternalStore(subscribe, () => connection)
