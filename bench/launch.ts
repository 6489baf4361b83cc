import { randomBytes, randomUUID } from 'node:crypto'
import { type JetonClient, prepareProjects } from './prepare-jeton.ts'
import { type Subject, startSubject } from './run-subject.ts'
import type { Store, StoreKind, Stores } from './stores.ts'
import type { Client, SubjectTask } from './subjects/protocol.ts'

interface Description {
  readonly label: string
  readonly file: string
  readonly store: StoreKind
  readonly settings?: Readonly<Record<string, string>>
}

const WITHOUT_FAST_PATH = { JETON_FAST_PATH: 'off' }

export const SUBJECTS = {
  'jeton-sqlite': { label: 'Jeton on SQLite', file: 'jeton.ts', store: 'sqlite' },
  'jeton-postgres': { label: 'Jeton on PostgreSQL', file: 'jeton.ts', store: 'postgres' },
  'jeton-sqlite-fastify': {
    label: 'Jeton on SQLite, no fast path',
    file: 'jeton.ts',
    store: 'sqlite',
    settings: WITHOUT_FAST_PATH,
  },
  'jeton-postgres-fastify': {
    label: 'Jeton on PostgreSQL, no fast path',
    file: 'jeton.ts',
    store: 'postgres',
    settings: WITHOUT_FAST_PATH,
  },
  'bare-fastify': { label: 'bare Fastify route', file: 'bare-fastify.ts', store: 'none' },
  'bare-http': { label: 'bare node:http', file: 'bare-http.ts', store: 'none' },
  'oidc-provider-memory': { label: 'oidc-provider in memory', file: 'oidc-provider.ts', store: 'none' },
  'oidc-provider-postgres': {
    label: 'oidc-provider on PostgreSQL',
    file: 'oidc-provider.ts',
    store: 'postgres',
  },
  'oauth2-server-memory': { label: 'oauth2-server in memory', file: 'oauth2-server.ts', store: 'none' },
  'oauth2-server-postgres': {
    label: 'oauth2-server on PostgreSQL',
    file: 'oauth2-server.ts',
    store: 'postgres',
  },
} as const satisfies Record<string, Description>

export type SubjectName = keyof typeof SUBJECTS
export const SUBJECT_NAMES = Object.keys(SUBJECTS) as SubjectName[]
export const JETON_NAME = { sqlite: 'jeton-sqlite', postgres: 'jeton-postgres' } as const

/** What the bare servers repeat, and how they are asked. */
export type Captured = Required<Pick<SubjectTask, 'answers' | 'clients'>>

const newClient = (): Client => ({ id: randomUUID(), secret: `jta_${randomBytes(36).toString('base64url')}` })

async function taskFor(
  name: SubjectName,
  store: Store,
  { clients, captured }: Options,
): Promise<SubjectTask> {
  if (name.startsWith('jeton')) return { clients: await prepareProjects(store, clients), env: store.env }
  if (name.startsWith('bare')) return captured!
  return { clients: Array.from({ length: clients }, newClient), databaseUrl: store.databaseUrl }
}

interface Options {
  /** How many share the load. Every one of Jeton's is in a project of its own, which may have 1000 tokens. */
  readonly clients: number
  readonly captured?: Captured | undefined
  /** Settings of Jeton, beside those of its store. */
  readonly settings?: Readonly<Record<string, string>>
  /** What shall be in Jeton's store before the start. */
  readonly fill?: (store: Store, clients: readonly JetonClient[]) => Promise<void>
}

/** Runs `work` with a freshly started subject on a store of its own, and removes both afterwards. */
export async function withSubject<T>(
  stores: Stores,
  name: SubjectName,
  options: Options,
  work: (subject: Subject, task: SubjectTask) => Promise<T>,
): Promise<T> {
  const { file, store: kind, settings }: Description = SUBJECTS[name]
  const store = await stores.fresh(kind)
  try {
    const task = await taskFor(name, store, options)
    await options.fill?.(store, task.clients as readonly JetonClient[])
    const subject = await startSubject(file, {
      ...task,
      env: { ...task.env, ...settings, ...options.settings },
    })
    try {
      return await work(subject, task)
    } finally {
      await subject.stop()
    }
  } finally {
    await store.drop()
  }
}
