import { hostname } from 'node:os'
import { ID_PREFIX } from '../contract/ids.ts'
import type { CacheFigures, ProcessIdentity } from '../features/processes/index.ts'
import type { ChangeFeed, TokenCache } from '../features/tokens/index.ts'
import { newId, randomBytes } from '../platform/secrets.ts'
import { VERSION } from './version.ts'

export const identifyProcess = (role: ProcessIdentity['role']): ProcessIdentity => ({
  id: newId(randomBytes, ID_PREFIX.process),
  host: hostname(),
  pid: process.pid,
  version: VERSION,
  role,
})

export const cacheFigures = (cache: TokenCache, { keyStateVersion }: ChangeFeed): CacheFigures => ({
  key_state_version: keyStateVersion,
  key_state_age_ms:
    cache.keyStateAgeSeconds === undefined ? null : Math.round(cache.keyStateAgeSeconds * 1000),
  cached_tokens: cache.size,
  cache_hits: cache.hits,
  cache_misses: cache.misses,
})
