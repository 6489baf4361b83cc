/// <reference lib="esnext.disposable" preserve="true" />
import type { Scope } from '../generated/scopes.ts'
import { createManagement, type Management } from '../management/index.ts'
import type { KeyPair } from '../tokens/request-token.ts'

/** `startTestServer` of the package `jeton`. */
type StartTestServer = (options: {
  readonly env?: Readonly<Record<string, string>> | undefined
  readonly deliver?: ((request: Request) => Response | Promise<Response>) | undefined
}) => Promise<{
  readonly url: string
  readonly operator: { readonly id: string; readonly token: string }
  now(): number
  advance(ms: number): Promise<void>
  nextDelivery(): Promise<Request | undefined>
  stop(): Promise<void>
}>

export interface TestJetonOptions {
  /** Settings of the server, for example `{ JETON_TRUSTED_PROXIES: '' }`. */
  readonly env?: Readonly<Record<string, string>>
  /** Receives every delivery in place of a server, for example a handler of `createReceiver`. Default: answers 204. */
  readonly deliver?: (request: Request) => Response | Promise<Response>
}

export interface NewKeyOptions {
  readonly permissions?: readonly Scope[]
  readonly ip_whitelist?: readonly string[]
  readonly token_limit?: number
}

export interface TestJeton extends AsyncDisposable {
  readonly baseUrl: string
  /** An empty project. */
  readonly projectId: string
  /** As an operator who may do everything. */
  readonly management: Management
  newKey(options?: NewKeyOptions): Promise<KeyPair & { readonly id: string }>
  /** The server's time in epoch milliseconds. */
  now(): number
  /** Moves the server's time. Expired tokens are inactive and retries are due when it resolves. */
  advance(ms: number): Promise<void>
  /** Every attempt to deliver an event, signed, in order. No socket is opened. */
  readonly deliveries: AsyncIterable<Request>
  stop(): Promise<void>
}

async function loadServer(): Promise<StartTestServer> {
  // A name in a variable: the package is optional, and bundlers must not look for it.
  const name = 'jeton/testing'
  try {
    return (await import(name)).startTestServer
  } catch (cause) {
    throw new Error(
      'The package "jeton" is required for startJeton, with Node 24: npm install --save-dev jeton',
      { cause },
    )
  }
}

/** Starts the real server in this process, with an empty store in a temporary folder and a clock that the test moves. */
export async function startJeton(options: TestJetonOptions = {}): Promise<TestJeton> {
  const startTestServer = await loadServer()
  const server = await startTestServer(options)
  const management = createManagement({ baseUrl: server.url, ...server.operator })
  const { id: projectId } = await management.projects.create({ name: `Test ${crypto.randomUUID()}` })
  let keys = 0
  return {
    baseUrl: server.url,
    projectId,
    management,
    async newKey(fields = {}) {
      const { id, app_id, app_token } = await management
        .project(projectId)
        .keys.create({ name: `Test ${++keys}`, ...fields })
      return { id, appId: app_id, appToken: app_token.reveal() }
    },
    now: server.now,
    advance: server.advance,
    deliveries: { [Symbol.asyncIterator]: () => ({ next: () => nextOf(server.nextDelivery) }) },
    stop: server.stop,
    [Symbol.asyncDispose]: server.stop,
  }
}

/** Without `return`, so that a second loop goes on where the first one stopped. */
async function nextOf(nextDelivery: () => Promise<Request | undefined>): Promise<IteratorResult<Request>> {
  const value = await nextDelivery()
  return value ? { value, done: false } : { value: undefined, done: true }
}
