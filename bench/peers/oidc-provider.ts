/** `oidc-provider` with the client credentials grant, opaque tokens and its own introspection, on PostgreSQL. */
import { createServer } from 'node:http'
import Provider from 'oidc-provider'
import { connectSql } from '../../server/test/sql.ts'
import { SCOPE, TOKEN_SECONDS } from '../subject.ts'
import { announce, listen, readTask } from './serve.ts'

const { clients, databaseUrl } = readTask()
const sql = connectSql(databaseUrl!, { max: 10 })
await sql`create table oidc_models (model text, id text, payload jsonb not null, expires_at timestamptz not null,
  primary key (model, id))`

const adapter = (model: string) => ({
  async upsert(id: string, payload: object, expiresIn: number) {
    const expiresAt = new Date(Date.now() + expiresIn * 1000)
    await sql`insert into oidc_models values (${model}, ${id}, ${JSON.stringify(payload)}, ${expiresAt})
      on conflict (model, id) do update set payload = excluded.payload, expires_at = excluded.expires_at`
  },
  async find(id: string) {
    const rows = await sql`select payload from oidc_models where model = ${model} and id = ${id}`
    return rows[0]?.payload
  },
})

interface WithClient {
  readonly clientId: string
}

const allowedPolicy = (_: unknown, client: WithClient, token: WithClient) =>
  client.clientId === token.clientId

const server = createServer()
const url = await listen(server)
const provider = new Provider(url, {
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
    introspection: { enabled: true, allowedPolicy },
    devInteractions: { enabled: false },
  },
  ttl: { ClientCredentials: TOKEN_SECONDS },
})
server.on('request', provider.callback())
announce(url)
