import type { TokenCache } from '../features/tokens/index.ts'
import type { Metrics } from '../platform/metrics.ts'

export function addServiceMetrics(metrics: Metrics, cache: TokenCache): void {
  metrics.gauge(
    'jeton_key_state_age_seconds',
    'Seconds since this process last confirmed the state of keys.',
    () => cache.keyStateAgeSeconds,
    'max',
  )
  metrics.gauge('jeton_workers', 'Processes of the service that answer requests.', () => 1)
  metrics.gauge('jeton_tokens_cached', 'Tokens in the cache.', () => cache.size)
  metrics.countedElsewhere(
    'jeton_token_cache_hits_total',
    'Token lookups answered by the cache.',
    () => cache.hits,
  )
  metrics.countedElsewhere(
    'jeton_token_cache_misses_total',
    'Tokens that were read from the store.',
    () => cache.misses,
  )
}
