import { FORCE_KEY_LOOKUPS, type PostgresDatabase } from '../src/platform/database/index.ts'

/** The same database, and the statements that are sent to it from now on. */
export function heardStatements(postgres: PostgresDatabase) {
  const texts = new Set<string>()
  const db: PostgresDatabase = {
    ...postgres,
    withConnection: (work) =>
      postgres.withConnection((connection) =>
        work({
          query(text, parameters) {
            texts.add(text)
            return connection.query(text, parameters)
          },
        }),
      ),
  }
  return { db, texts }
}

export const isSetting = (text: string): boolean => text.startsWith('select set_config')

/** The steps of their plans, as statements that run all day are planned: whatever they are asked for, with what was set before them. */
export const genericPlans = (postgres: PostgresDatabase, texts: Iterable<string>): Promise<string[]> =>
  postgres.withConnection(async (connection) => {
    const steps: string[] = []
    let set = FORCE_KEY_LOOKUPS
    for (const text of texts) {
      if (isSetting(text)) {
        set = text
        continue
      }
      await connection.query('begin')
      await connection.query(set)
      for (const row of await connection.query(`explain (generic_plan) ${text}`))
        steps.push(String(row['QUERY PLAN']).trim())
      await connection.query('rollback')
    }
    return steps
  })
