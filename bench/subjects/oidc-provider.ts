/** `oidc-provider` with the client credentials grant and introspection, opaque tokens, its tokens where the task says. */
import { createServer } from 'node:http'
import Provider, { type Adapter, type AdapterPayload, type Configuration } from 'oidc-provider'
import { connectSql, type Sql } from '../../server/test/sql.ts'
import { announce, endOnSignal, listen, receiveTask } from './process.ts'
import { basicOf, type Client, ISSUE_BODY, SCOPE, TOKEN_SECONDS } from './protocol.ts'

/** Its own memory adapter forgets all but the latest thousand tokens; this one keeps them. */
function inMemory(): (model: string) => Adapter {
  const kept = new Map<string, AdapterPayload>()
  return (model) => ({
    upsert: async (id, payload) => void kept.set(`${model}:${id}`, payload),
    find: async (id) => kept.get(`${model}:${id}`),
  })
}

async function inPostgres(sql: Sql): Promise<(model: string) => Adapter> {
  await sql`create table oidc_models (model text, id text, payload jsonb not null, expires_at timestamptz not null,
    primary key (model, id))`
  return (model) => ({
    async upsert(id, payload, expiresIn) {
      const expiresAt = new Date(Date.now() + expiresIn * 1000)
      await sql`insert into oidc_models values (${model}, ${id}, ${JSON.stringify(payload)}, ${expiresAt})
        on conflict (model, id) do update set payload = excluded.payload, expires_at = excluded.expires_at`
    },
    async find(id) {
      const rows = await sql`select payload from oidc_models where model = ${model} and id = ${id}`
      return rows[0]?.payload as AdapterPayload | undefined
    },
  })
}

const configure = (clients: readonly Client[], adapter: (model: string) => Adapter): Configuration => ({
  adapter,
  clients: clients.map(({ id, secret }) => ({
    client_id: id,
    client_secret: secret,
    grant_types: ['client_credentials'],
    response_types: [],
    redirect_uris: [],
    scope: SCOPE,
  })),
  scopes: [SCOPE],
  features: {
    clientCredentials: { enabled: true },
    introspection: { enabled: true, allowedPolicy: (_, client, token) => client.clientId === token.clientId },
    devInteractions: { enabled: false },
  },
  ttl: { ClientCredentials: TOKEN_SECONDS },
})

const { clients, databaseUrl } = await receiveTask()
const sql = databaseUrl === undefined ? undefined : connectSql(databaseUrl, { max: 10 })
const server = createServer()
const url = await listen(server)
const provider = new Provider(url, configure(clients, sql ? await inPostgres(sql) : inMemory()))
server.on('request', provider.callback())
endOnSignal(() => sql?.end())
announce({
  url,
  credentials: clients.map(basicOf),
  issue: { path: '/token', body: ISSUE_BODY },
  // Without the hint it would look in one table more.
  introspect: { path: '/token/introspection', body: 'token_type_hint=access_token&token=' },
})
