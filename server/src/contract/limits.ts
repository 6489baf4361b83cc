/** Limits of tokens. */
export const TOKEN_LIFETIME_SECONDS = 900
export const PROJECT_TOKEN_LIMIT = 1000
