/** An acknowledged token, with the times of its request and response. */
export interface TokenEntry {
  readonly token: string
  readonly keyId: string
  readonly sentAt: number
  readonly answeredAt: number
  /** Epoch milliseconds. */
  readonly expiresAt: number
  /** Set once the token itself was revoked. */
  revocation?: Kill
}

/** A request that blocks a key or revokes tokens. Without a response its outcome is unknown. */
export interface Kill {
  readonly sentAt: number
  answeredAt?: number
}

export interface Redemption {
  readonly key: string
  readonly path: string
  readonly body: string
  /** Text of the response, once there was one. */
  answer?: string
  /** Set if the reward was out of stock. */
  refused?: true
}

export interface Report {
  readonly sourceId: string
  readonly body: string
  eventId?: string
}

/**
 * Records the acknowledged requests and those without a response. Times come from the monotonic clock of the test. If the
 * times of two requests overlap, their order is unknown, and both outcomes are correct.
 */
export class Ledger {
  readonly tokens: TokenEntry[] = []
  readonly kills = new Map<string, Kill[]>()
  readonly redemptions: Redemption[] = []
  readonly reports: Report[] = []
  /** Unexpected responses, hanging requests, and dead tokens that were reported active. */
  readonly violations: string[] = []
  readonly statuses: Record<number, number> = {}

  killsOf(keyId: string): Kill[] {
    const kills = this.kills.get(keyId) ?? []
    this.kills.set(keyId, kills)
    return kills
  }

  /** `dead` and `alive` are certain. For `either` both are correct. */
  stateOf(entry: TokenEntry): 'alive' | 'dead' | 'either' {
    const kills = [...this.killsOf(entry.keyId), ...(entry.revocation ? [entry.revocation] : [])]
    if (kills.some(({ sentAt, answeredAt }) => answeredAt !== undefined && sentAt > entry.answeredAt))
      return 'dead'
    const spared = kills.every(({ answeredAt }) => answeredAt !== undefined && answeredAt < entry.sentAt)
    return spared ? 'alive' : 'either'
  }

  /** When the first response confirmed that the token is dead. */
  deadSince(entry: TokenEntry): number {
    const kills = [...this.killsOf(entry.keyId), ...(entry.revocation ? [entry.revocation] : [])]
    const times = kills.filter(({ sentAt }) => sentAt > entry.answeredAt).map(({ answeredAt }) => answeredAt)
    return Math.min(...times.map((at) => at ?? Number.POSITIVE_INFINITY))
  }

  acknowledged(): { tokens: number; redemptions: number; events: number; kills: number } {
    const redemptions = this.redemptions.filter(({ answer }) => answer !== undefined).length
    const reports = this.reports.filter(({ eventId }) => eventId !== undefined).length
    const kills = [...this.kills.values(), this.tokens.flatMap(({ revocation }) => revocation ?? [])]
    return {
      tokens: this.tokens.length,
      redemptions,
      events: redemptions + reports,
      kills: kills.flat().filter(({ answeredAt }) => answeredAt !== undefined).length,
    }
  }
}
