/** The part that is used here, so that types can be checked where the packages of the bench are not installed. */
declare module '@node-oauth/oauth2-server' {
  interface Client {
    readonly id: string
    readonly grants: readonly string[]
  }

  interface Token {
    readonly accessToken: string
    readonly accessTokenExpiresAt?: Date
    readonly scope?: string[]
  }

  interface Model {
    getClient(id: string, secret: string): Promise<Client | false>
    getUserFromClient(client: Client): Promise<object>
    validateScope(user: object, client: Client, scope?: string[]): Promise<string[] | false | undefined>
    saveToken(token: Token, client: Client, user: object): Promise<object>
    getAccessToken(accessToken: string): Promise<undefined>
  }

  class Request {
    constructor(of: { headers: object; method: string; query: object; body: object })
  }

  class Response {
    constructor(of: object)
    readonly status?: number
    readonly headers?: Record<string, string>
    readonly body?: unknown
  }

  export default class OAuth2Server {
    static readonly Request: typeof Request
    static readonly Response: typeof Response
    constructor(options: { readonly accessTokenLifetime: number; readonly model: Model })
    token(request: Request, response: Response): Promise<unknown>
  }
}
