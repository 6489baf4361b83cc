import { Type } from 'typebox'
import type { ProcessIdentity } from '../features/processes/index.ts'
import type { SettingReport } from '../platform/config/index.ts'
import { type Database, migrationsIn, storeSize, storeVersion } from '../platform/database/index.ts'
import {
  type App,
  forOperators,
  isoTimeOrNull,
  listOf,
  NullableText,
  strict,
} from '../platform/http/index.ts'
import type { JobState } from '../platform/periodic.ts'
import type { Finding } from './checks/finding.ts'
import { planOf } from './plan-migrations.ts'

const Answering = Type.Object(
  {
    id: Type.String(),
    host: Type.String({ description: 'Name of its machine or container.' }),
    pid: Type.Integer({ description: 'Its process id on that machine.' }),
    version: Type.String({ description: 'Version of Jeton that it runs.' }),
  },
  { description: 'The process that answered.' },
)

const nullableText = (description: string) => Type.Unsafe<string | null>({ ...NullableText, description })

const Setting = Type.Object({
  object: Type.Literal('setting'),
  name: Type.String({ description: 'Name of the environment variable.' }),
  value: nullableText(
    'The effective value, as one would write it; null if it is not set. Secrets are masked.',
  ),
  source: Type.Unsafe<SettingReport['source']>({
    type: 'string',
    enum: ['environment', 'flag', 'default'],
    description: 'Where the value comes from.',
  }),
  default: nullableText('The value without the variable; null for none.'),
})

const Check = Type.Object({
  object: Type.Literal('check'),
  name: Type.String({ description: 'What was checked.' }),
  result: Type.Unsafe<Finding['result']>({
    type: 'string',
    enum: ['ok', 'warning', 'failed', 'unknown'],
    description: '`unknown` could not be checked, which is neither success nor failure.',
  }),
  says: Type.String({ description: 'What was found.' }),
  remedy: nullableText('How to fix it; null if there is nothing to fix.'),
})

const Store = Type.Object({
  object: Type.Literal('store'),
  engine: Type.Unsafe<Database['engine']>({
    type: 'string',
    enum: ['sqlite', 'postgres'],
    description: 'The database engine.',
  }),
  name: Type.String({ description: 'Engine and place, without credentials.' }),
  version: Type.String({ description: 'Version of the engine.' }),
  size_bytes: Type.Integer({
    description: 'Size of the database; with PostgreSQL all of it, also what is not of Jeton.',
  }),
  migrations: Type.Object(
    {
      applied: Type.Integer({ description: 'Migrations that the store has.' }),
      pending: Type.Integer({ description: 'Migrations of this version that it lacks.' }),
      latest: nullableText('Name of the last applied one.'),
    },
    { description: 'Migrations of the schema.' },
  ),
})

const Job = Type.Object({
  object: Type.Literal('job'),
  name: Type.String(),
  purpose: Type.String({ description: 'What the job does.' }),
  every_ms: Type.Integer({ description: 'Longest time between two runs, in milliseconds.' }),
  last_run_at: nullableText('End of its last run; null before the first one.'),
  last_duration_ms: Type.Unsafe<number | null>({
    type: ['integer', 'null'],
    description: 'Duration of its last run, in milliseconds.',
  }),
  error: nullableText('Why the last run failed; null if it succeeded. It is repeated at the next run.'),
})

interface Deps {
  readonly db: Database
  readonly identity: ProcessIdentity
  readonly settings: readonly SettingReport[]
  readonly jobs: readonly JobState[]
  /** Findings of `jeton doctor`, with or without `--production`. */
  check(production: boolean): Promise<Finding[]>
}

/** Settings, checks and facts of the running service, independent of the environment of an operator's shell. */
export function serviceRoutes(app: App, deps: Deps): void {
  const tags = ['service']

  /** One page, and the process whose state it is. */
  function answer<Item>(data: Item[]) {
    const { id, host, pid, version } = deps.identity
    const list = { object: 'list' as const, data_ref: 'data' as const, data, total: data.length }
    return { ...list, next_cursor: null, process: { id, host, pid, version } }
  }

  app.get(
    '/management/v1/settings',
    {
      config: forOperators('admin'),
      schema: {
        tags,
        operationId: 'setting.list',
        summary: 'List the effective settings of the process that answers',
        response: { 200: answered(Setting) },
      },
    },
    async () => answer(deps.settings.map((setting) => ({ object: 'setting' as const, ...setting }))),
  )

  app.get(
    '/management/v1/checks',
    {
      config: forOperators('admin'),
      schema: {
        tags,
        operationId: 'check.list',
        summary: 'Run the checks of `jeton doctor --production` inside the service',
        querystring: strict({
          production: Type.Optional(
            Type.Boolean({ default: true, description: '`false`: only the checks of `jeton doctor`.' }),
          ),
        }),
        response: { 200: answered(Check) },
      },
    },
    async (request) => {
      const findings = await deps.check(request.query.production ?? true)
      return answer(
        findings.map(({ do: remedy = null, ...finding }) => ({
          object: 'check' as const,
          ...finding,
          remedy,
        })),
      )
    },
  )

  app.get(
    '/management/v1/jobs',
    {
      config: forOperators('viewer', 'all'),
      schema: {
        tags,
        operationId: 'job.list',
        summary: 'List the background jobs of the process that answers',
        response: { 200: answered(Job) },
      },
    },
    async () => answer(deps.jobs.map(showJob)),
  )

  app.get(
    '/management/v1/store',
    {
      config: forOperators('viewer', 'all'),
      schema: {
        tags,
        operationId: 'store.show',
        summary: 'Read engine, size and migrations of the store',
        response: { 200: Store },
      },
    },
    async () => showStore(deps.db),
  )
}

const answered = <Item extends Parameters<typeof listOf>[0]>(item: Item) =>
  Type.Object({ ...listOf(item).properties, process: Answering })

const showJob = ({ name, purpose, everyMs, lastRunAt, lastDurationMs, error }: JobState) => ({
  object: 'job' as const,
  name,
  purpose,
  every_ms: everyMs,
  last_run_at: isoTimeOrNull(lastRunAt),
  last_duration_ms: lastDurationMs === null ? null : Math.round(lastDurationMs),
  error,
})

async function showStore(db: Database) {
  const [applied = [], plan] = await Promise.all([migrationsIn(db), planOf(db)])
  return {
    object: 'store' as const,
    engine: db.engine,
    name: db.label,
    version: await storeVersion(db),
    size_bytes: await storeSize(db),
    migrations: {
      applied: applied.length,
      pending: plan.applied.length,
      latest: applied.at(-1) ?? null,
    },
  }
}
