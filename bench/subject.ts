import type { Program } from './program.ts'
import type { Store } from './stores.ts'

export type Headers = Readonly<Record<string, string>>

/** An API key of Jeton, or an OAuth client of a peer. */
export interface Client {
  readonly id: string
  readonly secret: string
}

export interface Route {
  readonly url: string
  readonly path: string
  /** Form body. Introspection appends the token. */
  readonly body: string
}

/** A server that runs and accepts requests. */
export interface Subject {
  readonly program: Program
  readonly url: string
  readonly issue: Route
  readonly introspect: Route
  /** Headers of each client, for issuing. */
  readonly credentials: readonly Headers[]
  /** Headers of each client for introspection, if they are others. */
  readonly introspectCredentials?: readonly Headers[]
}

/** A response of Jeton that the bare server repeats. */
export interface CapturedAnswer {
  /** Without those that the HTTP server adds itself. */
  readonly headers: Headers
  readonly body: string
  readonly bytes: number
}

export type Captured = Readonly<Record<'issue' | 'introspect' | 'gateway', CapturedAnswer>>

/** Input of a subject that is a file of this folder. */
export interface PeerTask {
  readonly clients: readonly Client[]
  readonly databaseUrl?: string | undefined
  readonly answers?: Captured
}

export interface Start {
  readonly store: Store
  readonly clients: readonly Client[]
  /** Settings on top of those of the store. */
  readonly settings: Readonly<Record<string, string>>
}

export const TOKEN_SECONDS = 900
export const SCOPE = 'rewards'
export const ISSUE_BODY = `grant_type=client_credentials&scope=${SCOPE}`
export const GATEWAY = { path: '/gateway/authorize', headers: { 'x-original-uri': '/v1/rewards/x' } } as const

export const basicOf = ({ id, secret }: Client): Headers => ({
  authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`,
})

export const pairOf = ({ id, secret }: Client): Headers => ({ 'x-app-id': id, 'x-app-token': secret })

interface Paths {
  readonly issue: string
  readonly introspect: string
  readonly hint?: string
}

export function subjectAt(
  program: Program,
  url: string,
  { issue, introspect, hint = '' }: Paths,
  credentials: readonly Headers[],
): Subject {
  return {
    ...{ program, url, credentials },
    issue: { url, path: issue, body: ISSUE_BODY },
    introspect: { url, path: introspect, body: `${hint}token=` },
  }
}
