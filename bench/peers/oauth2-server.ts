/**
 * `@node-oauth/oauth2-server` on `node:http` and PostgreSQL. The package has no introspection. The route here does the
 * minimum of RFC 7662: authenticate the client, look up the token, return its facts.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import OAuth2Server from '@node-oauth/oauth2-server'
import { connectSql } from '../../server/test/sql.ts'
import { type PeerTask, SCOPE, TOKEN_SECONDS } from '../subject.ts'
import { announce, listen, readForm, readTask } from './serve.ts'

const { clients, databaseUrl } = readTask()
const secrets = new Map(clients.map(({ id, secret }) => [id, secret]))
const sql = connectSql(databaseUrl!, { max: 10 })
await sql`create table tokens (token text primary key, client_id text not null, scope text not null,
  expires_at timestamptz not null)`

type Client = Pick<PeerTask['clients'][number], 'id'>

interface Token {
  readonly accessToken: string
  readonly accessTokenExpiresAt: Date
  readonly scope: string[]
}

const oauth = new OAuth2Server({
  accessTokenLifetime: TOKEN_SECONDS,
  model: {
    getClient: async (id: string, secret: string) =>
      secrets.get(id) === secret && { id, grants: ['client_credentials'] },
    getUserFromClient: async ({ id }: Client) => ({ id }),
    validateScope: async (_user: object, _client: Client, scope?: string[]) =>
      scope?.every((one) => one === SCOPE) && scope,
    async saveToken(token: Token, client: Client, user: object) {
      await sql`insert into tokens
        values (${token.accessToken}, ${client.id}, ${token.scope.join(' ')}, ${token.accessTokenExpiresAt})`
      return { ...token, client, user }
    },
    getAccessToken: async () => undefined,
  },
})

interface Result {
  readonly status: number
  readonly headers: Record<string, string>
  readonly body: unknown
}

async function issue({ headers, method }: IncomingMessage, form: URLSearchParams): Promise<Result> {
  const body = Object.fromEntries(form)
  const response = new OAuth2Server.Response({})
  const request = new OAuth2Server.Request({ headers, method: method!, query: {}, body })
  await oauth.token(request, response).catch(() => undefined)
  return { status: response.status, headers: response.headers, body: response.body }
}

function isAuthenticated({ headers }: IncomingMessage): boolean {
  const credentials = Buffer.from(headers.authorization?.slice(6) ?? '', 'base64').toString()
  const [id, secret] = credentials.split(':')
  return secret !== undefined && secrets.get(id!) === secret
}

async function introspect(request: IncomingMessage, form: URLSearchParams): Promise<Result> {
  if (!isAuthenticated(request)) return { status: 401, headers: {}, body: { error: 'invalid_client' } }
  const [row] = await sql<{ client_id: string; scope: string; expires_at: Date }>`select * from tokens
    where token = ${form.get('token') ?? ''}`
  const active = row !== undefined && row.expires_at.getTime() > Date.now()
  const exp = row && Math.floor(row.expires_at.getTime() / 1000)
  const facts = active && { client_id: row.client_id, scope: row.scope, exp, token_type: 'Bearer' }
  return { status: 200, headers: { 'cache-control': 'no-store' }, body: { active, ...facts } }
}

function send(response: ServerResponse, { status, headers, body }: Result): void {
  const text = JSON.stringify(body)
  const own = { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(text)) }
  response.writeHead(status, { ...headers, ...own }).end(text)
}

const server = createServer(async (request, response) => {
  const form = await readForm(request)
  send(response, await (request.url === '/token' ? issue : introspect)(request, form))
})
announce(await listen(server))
