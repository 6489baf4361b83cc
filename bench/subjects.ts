import { randomBytes, randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createProjects, type JetonClient } from './jeton/projects.ts'
import { startHydra } from './peers/hydra.ts'
import { startKeycloak } from './peers/keycloak.ts'
import { Program } from './program.ts'
import { ENGINE_LABEL, type Engine, type Store, type Stores } from './stores.ts'
import {
  basicOf,
  type Captured,
  type Client,
  type PeerTask,
  pairOf,
  type Start,
  type Subject,
  subjectAt,
} from './subject.ts'

export const BINARY = fileURLToPath(new URL('../server/bin/jeton.js', import.meta.url))
const JETON_PATHS = { issue: '/v1/oauth/token', introspect: '/v1/oauth/introspect' }
const OIDC_PATHS = {
  issue: '/token',
  introspect: '/token/introspection',
  hint: 'token_type_hint=access_token&',
}
const OAUTH2_PATHS = { issue: '/token', introspect: '/introspect' }

/** Runs `jeton serve` with its own home folder. */
async function startJeton({ store, clients, settings }: Start): Promise<Subject> {
  const home = { HOME: store.folder, XDG_CONFIG_HOME: store.folder }
  const program = new Program(process.execPath, [BINARY, 'serve'], { ...store.env, ...home, ...settings })
  return subjectAt(program, await program.printedUrl(), JETON_PATHS, clients.map(pairOf))
}

function runPeer(file: string, folder: string, task: PeerTask): Program {
  const path = fileURLToPath(new URL(`./peers/${file}.ts`, import.meta.url))
  const taskFile = join(folder, 'task.json')
  writeFileSync(taskFile, JSON.stringify(task))
  return new Program(process.execPath, [path, taskFile])
}

const startPeer =
  (file: string, paths: Parameters<typeof subjectAt>[2]) =>
  async ({ store, clients }: Start): Promise<Subject> => {
    const program = runPeer(file, store.folder, { clients, databaseUrl: store.databaseUrl })
    return subjectAt(program, await program.printedUrl(), paths, clients.map(basicOf))
  }

/** Receives the requests of Jeton and sends its captured responses. */
export async function startBare(
  folder: string,
  clients: readonly Client[],
  answers: Captured,
): Promise<Subject> {
  const program = runPeer('bare', folder, { clients, answers })
  return subjectAt(program, await program.printedUrl(), JETON_PATHS, clients.map(pairOf))
}

export type Kind = 'issue' | 'introspect' | 'gateway'

export interface Description {
  readonly label: string
  readonly engine: Engine
  readonly kinds: readonly Kind[]
  readonly settings?: Readonly<Record<string, string>>
  /** Least length of a slice, for a subject that needs a second for 128 concurrent requests. */
  readonly minSeconds?: number
  /** Length of the slice that is not counted, for a subject that compiles itself while it runs. */
  readonly warmUpSeconds?: number
  start(start: Start): Promise<Subject>
}

export const jetonOn = (engine: Engine): Description => ({
  ...{ label: `Jeton on ${ENGINE_LABEL[engine]}`, engine, start: startJeton },
  kinds: ['issue', 'introspect', 'gateway'],
})

const withoutFastPath = (engine: Engine): Description => ({
  ...jetonOn(engine),
  label: `${jetonOn(engine).label}, no fast path`,
  settings: { JETON_FAST_PATH: 'off' },
})

const peerOn = (engine: Engine, name: string, start: Description['start']): Description => ({
  ...{ label: `${name} on ${ENGINE_LABEL[engine]}`, engine, start },
  kinds: ['issue', 'introspect'],
})

/** Introspection authenticates nobody, so that the hasher makes no difference to it. */
function hydraPeers(binary: string): Description[] {
  const start = (input: Start) => startHydra(binary, input)
  const settings = { OAUTH2_HASHERS_PBKDF2_ITERATIONS: '1' }
  const [onPostgres, onSqlite] = [
    peerOn('postgres', 'Ory Hydra', start),
    peerOn('sqlite', 'Ory Hydra', start),
  ]
  const hasher = (peer: Description, name: string) => ({ ...peer, label: `${peer.label}, ${name} hasher` })
  return [
    { ...hasher(onPostgres, 'default'), minSeconds: 3 },
    { ...hasher(onPostgres, 'minimum'), settings, kinds: ['issue'] },
    { ...hasher(onSqlite, 'minimum'), settings, minSeconds: 3 },
  ]
}

const keycloakPeer = (folder: string): Description => ({
  ...peerOn('postgres', 'Keycloak', (input) => startKeycloak(folder, input)),
  ...{ minSeconds: 3, warmUpSeconds: 15 },
})

export interface Peers {
  readonly hydra?: string | undefined
  readonly keycloak?: string | undefined
}

export const subjectsOf = ({ hydra, keycloak }: Peers): readonly Description[] => [
  ...[jetonOn('sqlite'), jetonOn('postgres'), withoutFastPath('sqlite'), withoutFastPath('postgres')],
  peerOn('postgres', 'oidc-provider', startPeer('oidc-provider', OIDC_PATHS)),
  peerOn('postgres', '@node-oauth/oauth2-server', startPeer('oauth2-server', OAUTH2_PATHS)),
  ...(hydra === undefined ? [] : hydraPeers(hydra)),
  ...(keycloak === undefined ? [] : [keycloakPeer(keycloak)]),
]

export const isJeton = ({ label }: { readonly label: string }): boolean => label.startsWith('Jeton')

const newClient = (): Client => ({ id: randomUUID(), secret: randomBytes(36).toString('base64url') })

interface Options<Filled> {
  /** Each client of Jeton has its own project, since a project is limited to 1,000 tokens. */
  readonly clients: number
  /** Prepares the store of Jeton before it starts. */
  readonly fill?: (store: Store, clients: readonly JetonClient[]) => Promise<Filled>
}

/** Runs `work` with a subject that was started on an empty store, and removes both afterwards. */
export async function withSubject<T, Filled = undefined>(
  stores: Stores,
  description: Description,
  { clients: count, fill }: Options<Filled>,
  work: (subject: Subject, filled: Filled, clients: readonly Client[]) => Promise<T>,
): Promise<T> {
  const store = await stores.create(description.engine)
  try {
    const clients: Client[] = isJeton(description)
      ? await createProjects(store, count)
      : Array.from({ length: count }, newClient)
    const filled = (await fill?.(store, clients as JetonClient[])) as Filled
    const subject = await description.start({ store, clients, settings: description.settings ?? {} })
    try {
      return await work(subject, filled, clients)
    } finally {
      await subject.program.stop()
    }
  } finally {
    await store.drop()
  }
}
