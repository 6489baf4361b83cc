import { BY_KEY, type PostgresDatabase } from '../src/platform/database/index.ts'

/** The same database, and the statements that are sent to it from now on. */
export function heardStatements(postgres: PostgresDatabase) {
  const texts = new Set<string>()
  const db: PostgresDatabase = {
    ...postgres,
    runSql: (work) =>
      postgres.runSql((connection) =>
        work({
          send(text, parameters) {
            texts.add(text)
            return connection.send(text, parameters)
          },
          sendRaw(text, parameters) {
            texts.add(text)
            return connection.sendRaw(text, parameters)
          },
        }),
      ),
  }
  return { db, texts }
}

export const isSetting = (text: string): boolean => text.startsWith('select set_config')

/** The steps of their plans, as statements that run all day are planned: whatever they are asked for, with what was set before them. */
export const genericPlans = (postgres: PostgresDatabase, texts: Iterable<string>): Promise<string[]> =>
  postgres.runSql(async (connection) => {
    const steps: string[] = []
    let set = BY_KEY
    for (const text of texts) {
      if (isSetting(text)) {
        set = text
        continue
      }
      await connection.send('begin')
      await connection.send(set)
      for (const row of await connection.send(`explain (generic_plan) ${text}`))
        steps.push(String(row['QUERY PLAN']).trim())
      await connection.send('rollback')
    }
    return steps
  })
