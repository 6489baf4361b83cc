import { Pool, type QueryResult } from 'pg'

/** SQL over connections of its own, beside the service under test. */
export interface Sql {
  /** Runs a statement whose values become parameters. */
  <Row extends object = Record<string, unknown>>(
    parts: TemplateStringsArray,
    ...values: readonly unknown[]
  ): Promise<Row[]>
  /** Runs a text as it is: it may hold several statements. */
  run(text: string, values?: unknown[]): Promise<QueryResult>
  /** Rolls back if the work throws. */
  transaction<T>(work: (run: Sql['run']) => Promise<T>): Promise<T>
  end(): Promise<void>
}

export function connectSql(url: string, { max = 1, name = 'sql' } = {}): Sql {
  const pool = new Pool({ connectionString: url, application_name: name, max, allowExitOnIdle: true })
  // A connection that a test has cut; the pool makes another.
  pool.on('error', () => undefined)
  const names = new Map<string, string>()
  const nameOf = (text: string): string => {
    if (!names.has(text)) names.set(text, `s${names.size}`)
    return names.get(text)!
  }
  const query = async (parts: TemplateStringsArray, ...values: unknown[]) => {
    const text = parts.reduce((before, part, i) => `${before}$${i}${part}`)
    return (await pool.query({ name: nameOf(text), text, values })).rows
  }
  return Object.assign(query as never, {
    run: (text: string, values?: unknown[]) => pool.query(text, values),
    async transaction<T>(work: (run: Sql['run']) => Promise<T>): Promise<T> {
      const client = await pool.connect()
      try {
        await client.query('begin')
        const result = await work((text, values) => client.query(text, values))
        await client.query('commit')
        return result
      } catch (error) {
        await client.query('rollback')
        throw error
      } finally {
        client.release()
      }
    },
    end: () => pool.end(),
  })
}
