import type { Headers } from '../load/requests.ts'

/** A client of a subject: an API key of Jeton, an OAuth client of a peer. */
export interface Client {
  readonly id: string
  readonly secret: string
}

/** An answer of Jeton that the bare servers repeat. */
export interface CapturedAnswer {
  /** Without those that the HTTP server sets by itself. */
  readonly headers: Headers
  readonly body: string
  /** Of the whole answer, with all headers. */
  readonly bytes: number
}

/** What the runner tells a subject. */
export interface SubjectTask {
  readonly clients: readonly Client[]
  /** The settings of Jeton. */
  readonly env?: Readonly<Record<string, string>>
  /** For peers that keep their tokens in PostgreSQL. */
  readonly databaseUrl?: string | undefined
  readonly answers?: Readonly<Record<'issue' | 'introspect' | 'gateway', CapturedAnswer>>
}

/** How the subject is asked: what the one line says that it prints once it serves. */
export interface Ready {
  readonly ready: true
  readonly url: string
  /** The credentials of each client, as headers. */
  readonly credentials: readonly Headers[]
  readonly issue: { readonly path: string; readonly body: string }
  /** The token is put at the end of the body. */
  readonly introspect: { readonly path: string; readonly body: string }
}

export interface ProcessUse {
  readonly rssBytes: number
  /** The most that the process has held since it started. */
  readonly peakBytes: number
  /** Processor time since the start, user and system: of all threads, and of the one with the event loop. */
  readonly cpuMicros: number
  readonly mainMicros: number
}

export const TOKEN_SECONDS = 900
/** What the call needs that the gateway is asked about. */
export const SCOPE = 'rewards'
export const ISSUE_BODY = `grant_type=client_credentials&scope=${SCOPE}`

/** How a proxy asks Jeton whether a call may pass. */
export const GATEWAY = { path: '/gateway/authorize', headers: { 'x-original-uri': '/v1/rewards/x' } } as const

export const basicOf = ({ id, secret }: Client): Headers => ({
  authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`,
})

export const pairOf = ({ id, secret }: Client): Headers => ({ 'x-app-id': id, 'x-app-token': secret })
