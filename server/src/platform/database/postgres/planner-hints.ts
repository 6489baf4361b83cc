/**
 * Makes every lookup in the rest of a transaction use a key. A prepared statement keeps the plan it got when the tables
 * were empty, where scanning all rows was cheapest. The planner also assumes that a growing table is small until
 * autovacuum has analysed it.
 */
export const FORCE_KEY_LOOKUPS = `select set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true),
  set_config('enable_mergejoin', 'off', true), set_config('enable_bitmapscan', 'off', true),
  set_config('plan_cache_mode', 'force_generic_plan', true)`

/**
 * Ends a lookup of one row, `where project_id = … and`: only the primary key has this order. With `id = …` alone, a plan
 * made for an empty table may use another index that starts with the project, and read all of that project for each row.
 * Both ends are bound: with a lower bound alone PostgreSQL reads the rest of the index page, which doubles the cost.
 */
export const byKey = (id: string): string => `id between ${id} and ${id} order by id limit 1`
