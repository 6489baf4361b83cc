/**
 * Records which deliveries were processed, keyed by the signed `webhook-id`. Delivery is at least once, so the same one may
 * arrive again, also at another process: use a store that your processes share.
 */
export interface SeenStore {
  /**
   * Starts processing, atomically. `new`: it is yours for `leaseMs`. `busy`: another process has it, and its lease has not
   * ended. `done`: it was processed.
   */
  begin(webhookId: string, leaseMs: number): Promise<'new' | 'busy' | 'done'>
  /** Processing succeeded. */
  done(webhookId: string): Promise<void>
  /** Processing failed, so that the next attempt may start at once. */
  release(webhookId: string): Promise<void>
}

/** A store in the memory of this process, for development and tests: a restart forgets everything. */
export function memorySeenStore({ max = 100_000 }: { readonly max?: number } = {}): SeenStore {
  /** Time at which the lease ends; `done` without one. */
  const entries = new Map<string, number | 'done'>()
  return {
    async begin(webhookId, leaseMs) {
      const entry = entries.get(webhookId)
      if (entry === 'done') return 'done'
      if (entry !== undefined && performance.now() < entry) return 'busy'
      entries.delete(webhookId)
      entries.set(webhookId, performance.now() + leaseMs)
      const [oldest] = entries.keys()
      if (entries.size > max && oldest !== undefined) entries.delete(oldest)
      return 'new'
    },
    async done(webhookId) {
      entries.set(webhookId, 'done')
    },
    async release(webhookId) {
      entries.delete(webhookId)
    },
  }
}
