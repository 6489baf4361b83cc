import { fillTokens } from './fill-jeton.ts'
import { fillerOf } from './filler.ts'
import type { JetonClient } from './prepare-jeton.ts'
import { type Records, tablesOf } from './records.ts'
import type { Store } from './stores.ts'

const TOKENS = 1_000
/** Well within the days that records are kept. */
const SPAN_MS = 20 * 24 * 3_600_000

/** Puts the records of a project straight into its tables, with as many tokens as it may have. */
export async function fillRecords(store: Store, client: JetonClient, count: number): Promise<Records> {
  await fillTokens(store, TOKENS)
  const stepMs = Math.floor(SPAN_MS / count)
  const firstAt = Date.now() - count * stepMs
  const records = { projectId: client.projectId, keyId: client.keyId, count, firstAt, stepMs }
  const filler = fillerOf(store)
  for (const { name, rows, values } of tablesOf(records)) {
    const columns = Object.keys(values).map((column) => `"${column}"`)
    const insert = `insert into ${name} (${columns.join(', ')}) select ${Object.values(values).join(', ')} from n`
    await filler.withoutIndexes(name, () =>
      filler.run(
        `with recursive n(i) as (select 0 union all select i + 1 from n where i < ${rows - 1}) ${insert}`,
        `with n(i) as (select generate_series(0, ${rows - 1}::bigint)) ${insert}`,
      ),
    )
  }
  await filler.close()
  return records
}
