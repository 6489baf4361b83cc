/** A token that was acknowledged, with the span in which it was asked for. */
export interface TokenEntry {
  readonly token: string
  readonly keyId: string
  readonly sentAt: number
  readonly answeredAt: number
  /** Epoch milliseconds. */
  readonly expiresAt: number
  /** Revoked one by one: as a kill, below. */
  revocation?: Kill
}

/** Blocking a key, or revoking its tokens. Without an answer nobody knows whether it happened. */
export interface Kill {
  readonly sentAt: number
  answeredAt?: number
}

export interface Redemption {
  readonly key: string
  readonly path: string
  readonly body: string
  /** The answer, once there was one. */
  answer?: string
  /** Refused for good: out of stock. */
  refused?: true
}

export interface Report {
  readonly sourceId: string
  readonly body: string
  eventId?: string
}

/**
 * What the service has acknowledged, and what was asked without an answer. Times are of the test's own monotonic clock:
 * where two spans overlap, nobody can say which came first, and both outcomes are right.
 */
export class Ledger {
  readonly tokens: TokenEntry[] = []
  readonly kills = new Map<string, Kill[]>()
  readonly redemptions: Redemption[] = []
  readonly reports: Report[] = []
  /** What may never happen: an answer that nobody expects, a hang, a dead token that lives. */
  readonly violations: string[] = []
  readonly statuses: Record<number, number> = {}

  killsOf(keyId: string): Kill[] {
    const kills = this.kills.get(keyId) ?? []
    this.kills.set(keyId, kills)
    return kills
  }

  /** `dead` and `alive` are certain; anything else may be either. */
  stateOf(entry: TokenEntry): 'alive' | 'dead' | 'either' {
    const kills = [...this.killsOf(entry.keyId), ...(entry.revocation ? [entry.revocation] : [])]
    if (kills.some(({ sentAt, answeredAt }) => answeredAt !== undefined && sentAt > entry.answeredAt))
      return 'dead'
    const spared = kills.every(({ answeredAt }) => answeredAt !== undefined && answeredAt < entry.sentAt)
    return spared ? 'alive' : 'either'
  }

  /** When it became certain that a dead token is dead. */
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
