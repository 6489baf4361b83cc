import { join } from 'node:path'
import { freePort } from '../../server/test/free-port.ts'
import { Program } from '../program.ts'
import { basicOf, type Client, ISSUE_BODY, SCOPE, type Start, type Subject } from '../subject.ts'

const CLIENTS_PER_BATCH = 8

/** Starts Ory Hydra on the store, with ten connections on PostgreSQL as for the others, and creates the clients. */
export async function startHydra(binary: string, { store, clients, settings }: Start): Promise<Subject> {
  const [publicPort, adminPort] = [await freePort(), await freePort()]
  const [url, adminUrl] = [publicPort, adminPort].map((port) => `http://127.0.0.1:${port}`) as [
    string,
    string,
  ]
  const env = {
    DSN: store.databaseUrl
      ? `${store.databaseUrl}?sslmode=disable&max_conns=10&max_idle_conns=10`
      : `sqlite://${join(store.folder, 'hydra.sqlite')}?_fk=true`,
    SECRETS_SYSTEM: 'a-secret-of-at-least-sixteen-characters',
    URLS_SELF_ISSUER: url,
    SERVE_PUBLIC_HOST: '127.0.0.1',
    SERVE_PUBLIC_PORT: String(publicPort),
    SERVE_ADMIN_HOST: '127.0.0.1',
    SERVE_ADMIN_PORT: String(adminPort),
    TTL_ACCESS_TOKEN: '15m',
    LOG_LEVEL: 'error',
    SQA_OPT_OUT: 'true',
    ...settings,
  }
  await new Program(binary, ['migrate', 'sql', '-e', '--yes'], env).succeeds()
  const program = new Program(binary, ['serve', 'all', '--dev'], env)
  await program.respondsAt(`${url}/health/ready`)
  await program.respondsAt(`${adminUrl}/health/ready`)
  await createClients(adminUrl, clients)
  return {
    ...{ program, url },
    issue: { url, path: '/oauth2/token', body: ISSUE_BODY },
    introspect: { url: adminUrl, path: '/admin/oauth2/introspect', body: 'token=' },
    credentials: clients.map(basicOf),
    // The admin port asks for none.
    introspectCredentials: clients.map(() => ({})),
  }
}

async function createClients(adminUrl: string, clients: readonly Client[]): Promise<void> {
  const remaining = [...clients]
  async function createNext(): Promise<void> {
    for (let client = remaining.pop(); client; client = remaining.pop()) {
      const response = await fetch(`${adminUrl}/admin/clients`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({
          client_id: client.id,
          client_secret: client.secret,
          grant_types: ['client_credentials'],
          scope: SCOPE,
          token_endpoint_auth_method: 'client_secret_basic',
        }),
      })
      if (!response.ok) throw new Error(`hydra refused a client: ${await response.text()}`)
    }
  }
  await Promise.all(Array.from({ length: CLIENTS_PER_BATCH }, createNext))
}
