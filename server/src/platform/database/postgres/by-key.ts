/**
 * For the rest of a transaction that looks every row up by its key. Statements that run all day keep the plan they were
 * given on the first morning, when the tables were empty and reading all of them, or any index, was cheapest; and until a
 * table that grows is analysed, the planner believes that it is still small.
 */
export const BY_KEY = `select set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true),
  set_config('enable_mergejoin', 'off', true), set_config('enable_bitmapscan', 'off', true)`

/**
 * Ends a look-up of the row `where project_id = … and id >= …`, whose `id` is then compared: only the primary key has this
 * order. With `id = …` alone a plan from when the table was empty may take another index that begins with the project, and
 * goes through all of that for every row.
 */
export const FIRST_BY_KEY = 'order by id limit 1'
