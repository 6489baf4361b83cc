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
  type KeyUse,
  listKeysChangedSince,
  listVersionsChangedSince,
  lockApiKey,
  markKeysDeleted,
  saveKeyUse,
} from './api-key.store.ts'
export { matchSecret, permissionsOf, type SecretMatch, whitelistOf } from './api-key.ts'
export { createApiKeyIn } from './create-api-key.ts'
export {
  type KeyAddressRow,
  listKeyAddresses,
  MAX_ADDRESSES,
  saveKeyAddresses,
} from './key-address.store.ts'
export { listAddressesSince, listOldSecretUses, listUnusedKeys } from './key-attention.store.ts'
