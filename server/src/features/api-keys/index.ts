/** API keys: their states, secrets and permissions. Does not depend on tokens: counts are passed in. */

export { apiKeyRoutes } from './api-key.routes.ts'
export {
  type ApiKeyRow,
  type ApiKeyTables,
  countApiKeys,
  deleteKeysOfProject,
  findApiKey,
  findApiKeyByAppId,
  invalidateAllTokens,
  KEYS_CHANGED,
  listKeysChangedSince,
  listVersionsChangedSince,
  lockApiKey,
  markKeysDeleted,
  readKeyStateVersion,
} from './api-key.store.ts'
export { matchSecret, permissionsOf, type SecretMatch, whitelistOf } from './api-key.ts'
export { checkAddressRoutes } from './check-addresses.routes.ts'
export { createApiKeyIn } from './create-api-key.ts'
export { listAddressesSince, listOldSecretUses, listUnusedKeys } from './key-attention.store.ts'
export { type KeyUse, saveKeyUse } from './key-use.store.ts'
export { MAX_RECENT_ADDRESSES } from './recent-addresses.ts'
