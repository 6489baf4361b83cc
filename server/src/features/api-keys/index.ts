/** API keys: their states, secrets and rules. It never issues a token, and learns of them only as numbers. */

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
  readKeyStateVersion,
  saveKeyUse,
} from './api-key.store.ts'
export { judgeSecret, permissionsOf, type SecretVerdict, whitelistOf } from './api-key.ts'
export { createApiKeyIn } from './create-api-key.ts'
