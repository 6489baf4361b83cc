/**
 * For the rest of a transaction that looks every row up by its key. Statements that run all day keep the plan they were
 * given on the first morning, when the tables were empty and reading all of them, or any index, was cheapest; and until a
 * table that grows is analysed, the planner believes that it is still small.
 */
export const BY_KEY = `select set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true),
  set_config('enable_mergejoin', 'off', true), set_config('enable_bitmapscan', 'off', true),
  set_config('plan_cache_mode', 'force_generic_plan', true)`

/**
 * Ends a look-up of one row, `where project_id = … and`: only the primary key has this order. With `id = …` alone a plan from
 * when the table was empty may take another index that begins with the project, and goes through all of that for every
 * row. Bound at both ends: with only a lower one the rest of the index's page is read as well, which takes as long as all else.
 */
export const byKey = (id: string): string => `id between ${id} and ${id} order by id limit 1`
