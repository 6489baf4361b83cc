/** Sends in flight in one process. */
export const MAX_IN_FLIGHT = 512
/** Unhealthy destinations share half, so that healthy ones always find permits. */
const MAX_UNHEALTHY_IN_FLIGHT = MAX_IN_FLIGHT / 2

/** Sends in flight per destination. */
const LIMITS = { healthy: 64, unproven: 4, slow: 4, failing: 1 } as const
type Health = keyof typeof LIMITS

/** A slower response earns no more permits: each would be held for long. */
const SLOW_MS = 1_000
/** A success counts for this time. Then the destination is unproven again. */
const HEALTHY_FOR_MS = 30_000

/** Claimed ahead for a healthy destination, so that it has work during the next exchange with the store. */
export const MAX_PREFETCH = 768
/** Prefetches at most what starts within a second at the speed of the last response: after 2 s a claim is released. */
const PREFETCH_MS = 1_000
/** Buffered for all destinations together. */
export const MAX_BUFFERED = 1_024
/** Above this number of known destinations, idle ones are forgotten. */
const MAX_KNOWN = 10_000

interface DestinationLoad {
  inFlight: number
  buffered: number
  health: Health
  lastMs: number
  endedAt: number
}

interface AttemptEnd {
  /** Null if the attempt says nothing about the destination. */
  readonly succeeded: boolean | null
  readonly durationMs: number
}

/** How many more deliveries can be claimed, per destination and in all. */
export interface Capacities {
  readonly total: number
  readonly byDestination: Readonly<Record<string, number>>
  /** For destinations that are not in `byDestination`. */
  readonly default: number
  isHealthy(id: string): boolean
}

export const NO_CAPACITY: Capacities = { total: 0, byDestination: {}, default: 0, isHealthy: () => false }

/** Limits the sends in flight per destination, so that a slow or failing one does not delay others. */
export class DestinationLimits {
  /** The destination that got a permit longest ago comes first. */
  readonly #loads = new Map<string, DestinationLoad>()
  #inFlight = 0
  #unhealthyInFlight = 0
  #unhealthyBuffered = 0
  #buffered = 0

  get inFlight(): number {
    return this.#inFlight
  }

  /** Takes a permit, if the destination and the process have one. */
  tryStart(id: string, now: number): boolean {
    const load = this.#loadOf(id, now)
    if (this.#inFlight >= MAX_IN_FLIGHT || load.inFlight >= LIMITS[load.health]) return false
    if (load.health !== 'healthy' && this.#unhealthyInFlight >= MAX_UNHEALTHY_IN_FLIGHT) return false
    this.#count(load, { inFlight: 1 })
    this.#loads.delete(id)
    this.#loads.set(id, load)
    return true
  }

  /** Returns the permit and learns from the attempt. */
  end(id: string, { succeeded, durationMs }: AttemptEnd, now: number): void {
    const load = this.#loads.get(id)!
    this.#count(load, { inFlight: -1 })
    if (succeeded === null) return
    load.lastMs = Math.max(durationMs, 1)
    load.endedAt = now
    this.#setHealth(load, succeeded ? (durationMs > SLOW_MS ? 'slow' : 'healthy') : 'failing')
  }

  /** Counts claimed deliveries that wait in the buffer. */
  addBuffered(id: string, count: 1 | -1, now: number): void {
    this.#count(this.#loadOf(id, now), { buffered: count })
  }

  /** A claimed delivery could not start in time: nothing more is claimed ahead until the next success. */
  expireBuffered(id: string, now: number): void {
    this.addBuffered(id, -1, now)
    const load = this.#loads.get(id)!
    if (load.health === 'healthy') this.#setHealth(load, 'slow')
  }

  /** Free permits plus prefetch, minus buffered deliveries. Approximate by design: only `tryStart` is exact. */
  capacities(now: number): Capacities {
    this.#forgetIdle(now)
    const unhealthyLeft = Math.max(
      0,
      MAX_UNHEALTHY_IN_FLIGHT - this.#unhealthyInFlight - this.#unhealthyBuffered,
    )
    const byDestination: Record<string, number> = {}
    for (const [id, load] of this.#loads) {
      const own = Math.max(0, LIMITS[load.health] + prefetchOf(load) - load.inFlight - load.buffered)
      byDestination[id] = load.health === 'healthy' ? own : Math.min(own, unhealthyLeft)
    }
    return {
      total: Math.max(0, MAX_BUFFERED - this.#buffered),
      byDestination,
      default: Math.min(LIMITS.unproven, unhealthyLeft),
      isHealthy: (id) => this.#loads.get(id)?.health === 'healthy',
    }
  }

  #loadOf(id: string, now: number): DestinationLoad {
    const known = this.#loads.get(id)
    if (known) {
      if (isStale(known, now)) this.#setHealth(known, 'unproven')
      return known
    }
    const load: DestinationLoad = { inFlight: 0, buffered: 0, health: 'unproven', lastMs: 0, endedAt: now }
    this.#loads.set(id, load)
    return load
  }

  #count(load: DestinationLoad, { inFlight = 0, buffered = 0 }): void {
    load.inFlight += inFlight
    load.buffered += buffered
    this.#inFlight += inFlight
    this.#buffered += buffered
    if (load.health === 'healthy') return
    this.#unhealthyInFlight += inFlight
    this.#unhealthyBuffered += buffered
  }

  #setHealth(load: DestinationLoad, health: Health): void {
    const { inFlight, buffered } = load
    this.#count(load, { inFlight: -inFlight, buffered: -buffered })
    load.health = health
    this.#count(load, { inFlight, buffered })
  }

  /** Forgets idle destinations, which then count as new. Failing ones are remembered, up to a limit. */
  #forgetIdle(now: number): void {
    let excess = this.#loads.size - MAX_KNOWN
    for (const [id, load] of this.#loads) {
      if (load.inFlight + load.buffered > 0) continue
      const isForgotten = load.health === 'failing' ? excess > 0 : isStale(load, now)
      if (isForgotten && this.#loads.delete(id)) excess--
    }
  }
}

const isStale = ({ inFlight, health, endedAt }: DestinationLoad, now: number): boolean =>
  inFlight === 0 && health !== 'failing' && now - endedAt > HEALTHY_FOR_MS

const prefetchOf = ({ health, lastMs }: DestinationLoad): number =>
  health === 'healthy' ? Math.min(MAX_PREFETCH, Math.floor((LIMITS.healthy * PREFETCH_MS) / lastMs)) : 0
