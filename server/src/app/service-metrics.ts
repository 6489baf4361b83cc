import type { TokenCache } from '../features/tokens/index.ts'
import type { Metrics } from '../platform/metrics.ts'

export function addServiceMetrics(metrics: Metrics, cache: TokenCache): void {
  metrics.read('jeton_key_state_age_seconds', () => cache.keyStateAgeSeconds)
  metrics.read('jeton_workers', () => 1)
  metrics.read('jeton_tokens_cached', () => cache.size)
  metrics.read('jeton_token_cache_hits_total', () => cache.hits)
  metrics.read('jeton_token_cache_misses_total', () => cache.misses)
}
