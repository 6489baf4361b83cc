import { newToken } from '../src/features/tokens/token.ts'
import { randomBytes } from '../src/platform/secrets.ts'

/** Well-formed, and never issued. */
export const madeUpToken = (projectId: string): string =>
  newToken(randomBytes, projectId, Date.now()).accessToken
