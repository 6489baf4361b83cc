import { ISSUE_BODY, pairOf, type Ready, type SubjectTask } from './protocol.ts'

/** Like Jeton's, so that the `Keep-Alive` header of the answers is the same. */
export const KEEP_ALIVE_MS = 72_000

/** The bare servers are asked exactly as Jeton is. */
export const askedLikeJeton = (url: string, { clients }: SubjectTask): Omit<Ready, 'ready'> => ({
  url,
  credentials: clients.map(pairOf),
  issue: { path: '/v1/oauth/token', body: ISSUE_BODY },
  introspect: { path: '/v1/oauth/introspect', body: 'token=' },
})
