import { Problem } from '../../contract/problem.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Database } from '../../platform/database/index.ts'
import type { ClientAddress, LoginThrottle } from '../../platform/http/index.ts'
import { digestOf } from '../../platform/secrets.ts'
import { judgeSecret, saveKeyUse } from '../api-keys/index.ts'
import type { KnownKey } from './known-key.ts'
import type { Memory } from './memory.ts'

interface Pair {
  readonly appId: string
  readonly appToken: string
}

export interface AuthenticationDeps {
  readonly memory: Memory
  readonly attempts: LoginThrottle
  readonly uses: KeyUses
}

/** One answer for missing, unknown, wrong and deleted; only the step on record differs. */
export const notAccepted = (step: string, key?: KnownKey): Problem =>
  new Problem('unauthorized', {
    message: 'The API key was not accepted.',
    details: 'Check X-App-Id and X-App-Token. An operator can see the reason: jeton explain <request_id>',
    refusal: { step, keyId: key?.row.id, projectId: key?.row.project_id },
  })

const blocked = (key: KnownKey): Problem =>
  new Problem('api_key_blocked', {
    message: 'This API key is blocked.',
    details: 'Its tokens are dead and stay so. An operator can unblock it.',
    refusal: { step: 'key_blocked', keyId: key.row.id, projectId: key.row.project_id },
  })

export const addressRefused = (
  key: KnownKey,
  address: string | null,
  step = 'address_not_allowed',
): Problem =>
  new Problem('ip_not_allowed', {
    message: `This key may not be used from ${address ?? 'an unknown address'}.`,
    details: 'If that is your proxy and not you, an operator must add it to JETON_TRUSTED_PROXIES.',
    refusal: { step, keyId: key.row.id, projectId: key.row.project_id },
  })

const APP_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** Why the pair is refused, in the order of the contract; undefined where it is accepted. */
function fault(
  key: KnownKey | undefined,
  digest: Uint8Array,
  now: number,
  address: string | null,
): Problem | undefined {
  if (!key) return notAccepted('app_id_unknown')
  if (key.row.state === 'deleted') return notAccepted('key_deleted', key)
  const verdict = judgeSecret(key.row, digest, now)
  if (verdict === 'wrong') return notAccepted('secret_wrong', key)
  if (verdict === 'replaced') return notAccepted('secret_replaced', key)
  if (key.row.state === 'blocked') return blocked(key)
  if (!key.admits(address)) return addressRefused(key, address)
  return undefined
}

/**
 * The key that a pair proves. Memory may accept; before anyone is refused for what memory says, the store is asked, so
 * a new key, a new secret or a wider whitelist works at once everywhere.
 */
export function authenticateKey(
  deps: AuthenticationDeps,
  pair: Pair,
  caller: ClientAddress,
): KnownKey | Promise<KnownKey> {
  const { memory } = deps
  const digest = digestOf(pair.appToken)
  const judge = (key: KnownKey | undefined) => fault(key, digest, memory.storeClock.now(), caller.plain)
  const known = memory.knownKeyByAppId(pair.appId)
  return known && !judge(known) ? known : askStore(deps, pair.appId, caller, judge)
}

async function askStore(
  { memory, attempts }: AuthenticationDeps,
  appId: string,
  caller: ClientAddress,
  judge: (key: KnownKey | undefined) => Problem | undefined,
): Promise<KnownKey> {
  const key = APP_ID.test(appId) ? await memory.freshKeyByAppId(appId) : undefined
  const problem = judge(key)
  if (!problem) return key!
  throw problem.key === 'unauthorized' ? attempts.recordFailure(caller.plain, appId, problem) : problem
}

/** Exact enough for people; and a row of a key is in four indexes. */
const USES_EXACT_TO_MS = 60_000

/** When keys were last used, to the minute: gathered in memory, written in batches, never on the path of a request. */
export class KeyUses {
  readonly #clock: Clock
  #noted = new Set<string>()
  #notedSince = 0
  #uses: { projectId: string; id: string; at: number }[] = []

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Every request comes here. */
  note({ row }: KnownKey): void {
    if (this.#noted.has(row.id)) return
    this.#noted.add(row.id)
    this.#uses.push({ projectId: row.project_id, id: row.id, at: this.#clock.now() })
  }

  async flush(db: Database): Promise<void> {
    const now = this.#clock.now()
    if (Math.abs(now - this.#notedSince) >= USES_EXACT_TO_MS) {
      this.#notedSince = now
      this.#noted = new Set()
    }
    const uses = this.#uses.splice(0)
    if (uses.length === 0) return
    // Whatever is not written is to be noted again.
    let left = uses.map(({ id }) => id)
    try {
      left = await db.transaction((tx) => saveKeyUse(tx, uses))
    } finally {
      for (const id of left) this.#noted.delete(id)
    }
  }
}
