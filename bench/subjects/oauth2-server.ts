/**
 * `@node-oauth/oauth2-server` on bare `node:http`. It ships no introspection, so a route of ours does what RFC 7662
 * needs and no more: authenticate the client, look the token up, say what is known of it.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import OAuth2Server from '@node-oauth/oauth2-server'
import { connectSql, type Sql } from '../../server/test/sql.ts'
import { announce, endOnSignal, listen, readBody, receiveTask } from './process.ts'
import { basicOf, ISSUE_BODY, SCOPE, TOKEN_SECONDS } from './protocol.ts'

interface Kept {
  readonly clientId: string
  readonly scope: string
  readonly expiresAt: Date
}

interface Keeper {
  save(token: string, kept: Kept): Promise<void>
  find(token: string): Promise<Kept | undefined>
}

function inMemory(): Keeper {
  const kept = new Map<string, Kept>()
  return { save: async (token, one) => void kept.set(token, one), find: async (token) => kept.get(token) }
}

async function inPostgres(sql: Sql): Promise<Keeper> {
  await sql`create table tokens (token text primary key, client_id text not null, scope text not null,
    expires_at timestamptz not null)`
  return {
    async save(token, { clientId, scope, expiresAt }) {
      await sql`insert into tokens values (${token}, ${clientId}, ${scope}, ${expiresAt})`
    },
    async find(token) {
      const rows = await sql<Kept>`select client_id as "clientId", scope, expires_at as "expiresAt"
        from tokens where token = ${token}`
      return rows[0]
    },
  }
}

const { clients, databaseUrl } = await receiveTask()
const sql = databaseUrl === undefined ? undefined : connectSql(databaseUrl, { max: 10 })
const keeper = sql ? await inPostgres(sql) : inMemory()
const secrets = new Map(clients.map(({ id, secret }) => [id, secret]))

const oauth = new OAuth2Server({
  accessTokenLifetime: TOKEN_SECONDS,
  model: {
    getClient: async (id, secret) => secrets.get(id) === secret && { id, grants: ['client_credentials'] },
    getUserFromClient: async ({ id }) => ({ id }),
    validateScope: async (_user, _client, scope) => scope?.every((one) => one === SCOPE) && scope,
    async saveToken(token, client, user) {
      const expiresAt = token.accessTokenExpiresAt!
      await keeper.save(token.accessToken, { clientId: client.id, scope: token.scope!.join(' '), expiresAt })
      return { ...token, client, user }
    },
    getAccessToken: async () => undefined,
  },
})

function send(
  response: ServerResponse,
  status: number,
  headers: Record<string, string>,
  body: unknown,
): void {
  const text = JSON.stringify(body)
  const length = String(Buffer.byteLength(text))
  response
    .writeHead(status, { ...headers, 'content-type': 'application/json', 'content-length': length })
    .end(text)
}

async function issue(
  request: IncomingMessage,
  response: ServerResponse,
  form: URLSearchParams,
): Promise<void> {
  const { headers, method } = request
  const asked = new OAuth2Server.Request({
    headers: headers as never,
    method: method!,
    query: {},
    body: Object.fromEntries(form),
  })
  const answer = new OAuth2Server.Response({})
  await oauth.token(asked, answer).catch(() => undefined)
  send(response, answer.status!, answer.headers!, answer.body)
}

function authenticates({ headers }: IncomingMessage): boolean {
  const [id, secret] = Buffer.from(headers.authorization?.slice(6) ?? '', 'base64')
    .toString()
    .split(':')
  return secret !== undefined && secrets.get(id!) === secret
}

async function introspect(
  request: IncomingMessage,
  response: ServerResponse,
  form: URLSearchParams,
): Promise<void> {
  if (!authenticates(request)) return send(response, 401, {}, { error: 'invalid_client' })
  const found = await keeper.find(form.get('token') ?? '')
  const active = found !== undefined && found.expiresAt.getTime() > Date.now()
  const facts = active && {
    client_id: found.clientId,
    scope: found.scope,
    exp: Math.floor(found.expiresAt.getTime() / 1000),
    token_type: 'Bearer',
  }
  send(response, 200, { 'cache-control': 'no-store' }, { active, ...facts })
}

const server = createServer(async (request, response) => {
  const form = new URLSearchParams(await readBody(request))
  await (request.url === '/token' ? issue : introspect)(request, response, form)
})
const url = await listen(server)
endOnSignal(() => sql?.end())
announce({
  url,
  credentials: clients.map(basicOf),
  issue: { path: '/token', body: ISSUE_BODY },
  introspect: { path: '/introspect', body: 'token=' },
})
