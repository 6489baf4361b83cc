/** The part that is used here: its published types bring 18 packages along, among them another Node's. */
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http'

  export type AdapterPayload = Record<string, unknown>

  export interface Adapter {
    upsert(id: string, payload: AdapterPayload, expiresIn: number): Promise<void>
    find(id: string): Promise<AdapterPayload | undefined>
  }

  interface OfClient {
    readonly clientId: string
  }

  export interface Configuration {
    readonly adapter: (model: string) => Adapter
    readonly clients: readonly object[]
    readonly scopes: readonly string[]
    readonly features: {
      readonly clientCredentials: { enabled: boolean }
      readonly introspection: {
        enabled: boolean
        allowedPolicy(context: unknown, client: OfClient, token: OfClient): boolean
      }
      readonly devInteractions: { enabled: boolean }
    }
    readonly ttl: Readonly<Record<string, number>>
  }

  export default class Provider {
    constructor(issuer: string, configuration: Configuration)
    callback(): (request: IncomingMessage, response: ServerResponse) => void
  }
}
