import {
  type OutgoingDelivery,
  sendDelivery,
  startDelivery,
  tracedSend,
} from '../features/deliveries/index.ts'
import type { UsageCounter } from '../features/usage/index.ts'
import type { Clock } from '../platform/clock.ts'
import type { Config } from '../platform/config/index.ts'
import type { Database } from '../platform/database/index.ts'
import { cachingVault, type Vault } from '../platform/encryption.ts'
import type { Log } from '../platform/log.ts'
import type { Metrics } from '../platform/metrics.ts'
import { createEgressPolicy, createSender, type Sender } from '../platform/outbound/index.ts'
import type { JobState } from '../platform/periodic.ts'
import { randomBytes } from '../platform/secrets.ts'
import type { Tracer } from '../platform/tracing.ts'
import { VERSION } from './version.ts'

/** Enough for about two thousand destinations, half of them during a rotation. */
const MAX_OPENED_SECRETS = 3_000

interface Parts {
  readonly config: Config
  readonly clock: Clock
  readonly log: Log
  readonly db: Database
  readonly vault: Vault
  readonly metrics: Metrics
  readonly usage: UsageCounter
  readonly tracer?: Tracer | undefined
  readonly jobs?: JobState[]
  /** Sends events instead of the HTTP client. */
  readonly sender?: Sender | undefined
}

/** Starts the delivery worker with its sender, for `jeton serve` and `jeton worker`. */
export function startSending({ config, vault, tracer, ...parts }: Parts): { stop(): Promise<void> } {
  const policy = createEgressPolicy(config.JETON_WEBHOOK_ALLOW)
  const sender = parts.sender ?? createSender({ policy, userAgent: `Jeton/${VERSION}` })
  const secrets = cachingVault(vault, MAX_OPENED_SECRETS)
  const send = (outgoing: OutgoingDelivery) => sendDelivery({ sender, vault: secrets }, outgoing)
  const delivery = startDelivery({
    ...parts,
    random: randomBytes,
    // Without the key, this process relays events and leaves sending to processes that have it.
    canSign: vault.ready,
    send: tracer ? tracedSend(tracer, send) : send,
  })
  return {
    async stop() {
      await delivery
        .stop()
        .catch((error) =>
          parts.log.warn(
            { reason: (error as Error).message },
            'could not settle the last deliveries, they will be sent again',
          ),
        )
      await sender.close()
    },
  }
}
