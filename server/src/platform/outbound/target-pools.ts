import { Pool } from 'undici'

/**
 * Keeps one undici pool per target URL while it has connections or requests. Pools are not shared by origin: undici scans a
 * pool's connections for a free one, and many targets on one host would make that scan long.
 */
export class TargetPools {
  readonly #options: Pool.Options
  readonly #pools = new Map<string, Pool>()

  constructor(options: Pool.Options) {
    this.#options = options
  }

  of({ href, origin }: URL): Pool {
    const known = this.#pools.get(href)
    if (known) return known
    const pool = new Pool(origin, this.#options)
    // One turn later, because undici counts an aborted request as pending until then.
    const dropUnused = () => setImmediate(() => this.#dropUnused(href, pool))
    pool.on('disconnect', dropUnused)
    pool.on('connectionError', dropUnused)
    this.#pools.set(href, pool)
    return pool
  }

  #dropUnused(href: string, pool: Pool): void {
    const { connected, pending, running, queued } = pool.stats
    if (connected + pending + running + queued > 0 || this.#pools.get(href) !== pool) return
    this.#pools.delete(href)
    void pool.close()
  }

  async destroy(): Promise<void> {
    const pools = [...this.#pools.values()]
    this.#pools.clear()
    await Promise.all(pools.map((pool) => pool.destroy()))
  }
}
