import { join } from 'node:path'
import { freePort } from '../../server/test/free-port.ts'
import { Program } from '../program.ts'
import {
  basicOf,
  type Client,
  SCOPE,
  type Start,
  type Subject,
  subjectAt,
  TOKEN_SECONDS,
} from '../subject.ts'

const ADMIN = { username: 'admin', password: 'admin' }
const PATHS = {
  issue: '/realms/bench/protocol/openid-connect/token',
  introspect: '/realms/bench/protocol/openid-connect/token/introspect',
}

/** Starts Keycloak in production mode on PostgreSQL and creates a realm with the clients. */
export async function startKeycloak(folder: string, { store, clients }: Start): Promise<Subject> {
  const { host, pathname } = new URL(store.databaseUrl!)
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const env = {
    KC_DB: 'postgres',
    KC_DB_URL: `jdbc:postgresql://${host}${pathname}`,
    KC_DB_USERNAME: 'jeton',
    KC_HTTP_ENABLED: 'true',
    KC_HTTP_HOST: '127.0.0.1',
    KC_HTTP_PORT: String(port),
    KC_HOSTNAME_STRICT: 'false',
    KC_CACHE: 'local',
    KC_LOG_LEVEL: 'warn',
    KC_BOOTSTRAP_ADMIN_USERNAME: ADMIN.username,
    KC_BOOTSTRAP_ADMIN_PASSWORD: ADMIN.password,
  }
  const program = new Program(join(folder, 'bin', 'kc.sh'), ['start', '--optimized'], env)
  await program.respondsAt(`${url}/realms/master`)
  await createRealm(url, clients)
  return subjectAt(program, url, PATHS, clients.map(basicOf))
}

async function post(
  url: string,
  headers: Record<string, string>,
  body: string | URLSearchParams,
): Promise<Response> {
  const response = await fetch(url, { method: 'POST', headers, body })
  if (!response.ok) throw new Error(`keycloak refused ${url}: ${await response.text()}`)
  return response
}

async function createRealm(url: string, clients: readonly Client[]): Promise<void> {
  const form = new URLSearchParams({ grant_type: 'password', client_id: 'admin-cli', ...ADMIN })
  const login = await post(`${url}/realms/master/protocol/openid-connect/token`, {}, form)
  const { access_token: token } = (await login.json()) as { access_token: string }
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  await post(`${url}/admin/realms`, headers, JSON.stringify(realmOf(clients)))
}

/** Without it, introspection finds no user for the token and calls it inactive. */
const SUBJECT_CLAIM = {
  name: 'sub',
  protocol: 'openid-connect',
  protocolMapper: 'oidc-sub-mapper',
  config: { 'access.token.claim': 'true', 'introspection.token.claim': 'true' },
}

/** Only a client in the audience of a token may introspect it. */
const audienceClaim = (clientId: string): object => ({
  name: 'audience',
  protocol: 'openid-connect',
  protocolMapper: 'oidc-audience-mapper',
  config: { 'included.client.audience': clientId, 'access.token.claim': 'true' },
})

const realmOf = (clients: readonly Client[]): object => ({
  realm: 'bench',
  enabled: true,
  sslRequired: 'none',
  accessTokenLifespan: TOKEN_SECONDS,
  clientScopes: [
    {
      name: SCOPE,
      protocol: 'openid-connect',
      attributes: { 'include.in.token.scope': 'true' },
      protocolMappers: [SUBJECT_CLAIM],
    },
  ],
  clients: clients.map(({ id, secret }) => ({
    clientId: id,
    secret,
    publicClient: false,
    serviceAccountsEnabled: true,
    standardFlowEnabled: false,
    defaultClientScopes: [],
    optionalClientScopes: [SCOPE],
    protocolMappers: [audienceClaim(id)],
  })),
})
