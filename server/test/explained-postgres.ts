import {
  type CompiledQuery,
  type DatabaseConnection,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
} from 'kysely'
import type { PostgresDatabase, Reader } from '../src/platform/database/index.ts'

/** How PostgreSQL finds what is asked for, with the rows and statistics that the store has at this moment. */
export function explainedPostgres(db: PostgresDatabase) {
  const plans: string[] = []
  const connection: DatabaseConnection = {
    executeQuery: <Row>({ sql, parameters }: CompiledQuery) =>
      db.withConnection(async ({ query }) => {
        for (const row of await query(`explain ${sql}`, [...parameters]))
          plans.push(String(row['QUERY PLAN']).trim())
        return { rows: (await query(sql, [...parameters])) as Row[] }
      }),
    streamQuery: () => {
      throw new Error('no list is streamed')
    },
  }
  const nothing = async () => undefined
  const kysely = new Kysely<never>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => ({
        init: nothing,
        acquireConnection: async () => connection,
        beginTransaction: nothing,
        commitTransaction: nothing,
        rollbackTransaction: nothing,
        releaseConnection: nothing,
        destroy: nothing,
      }),
      createIntrospector: (any) => new PostgresIntrospector(any),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  })
  return {
    reader: { read: () => kysely, engine: 'postgres' } as never as Reader & { readonly engine: 'postgres' },
    /** The scans of tables that the work takes, each once. */
    async scansOf(work: () => Promise<unknown>): Promise<string[]> {
      plans.length = 0
      await work()
      return [
        ...new Set(plans.filter((step) => /Scan/.test(step)).map((step) => step.replace(/ {2}\(cost.*/, ''))),
      ]
    },
  }
}
