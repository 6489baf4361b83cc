import { type RawBuilder, sql } from 'kysely'

/** Deliveries `d` that are in a queue: the condition of the index that is read. */
export const PENDING = sql`d.status = 'pending'`
/** Given up. The index holds failures only; the status alone would seek in every project. */
export const EXHAUSTED = sql`d.status = 'exhausted' and d.last_error is not null`
const FAILED = sql`d.last_error is not null`

/**
 * Common table expression `queues` with the destinations that have such deliveries, of one project or of all. It seeks from
 * one destination to the next, so the cost follows from their number, not from all destinations or from the length of
 * queues. A row without a destination is the start of a project, and the last row has no project.
 */
export function queuesOf(found: RawBuilder<unknown>, projectId?: string): RawBuilder<unknown> {
  const inIndex = found === EXHAUSTED ? FAILED : found
  const nextProject = sql`select min(d.project_id) from deliveries d where ${inIndex} and d.project_id > q.project_id`
  const nextDestination = sql`select min(d.destination_id) from deliveries d
    where ${found} and d.project_id = q.project_id and d.destination_id > q.destination_id`
  const first =
    projectId === undefined
      ? sql`select min(d.project_id) as id from deliveries d where ${inIndex}`
      : sql`select id from projects where id = ${projectId}`
  const afterLast = projectId === undefined ? sql`(${nextProject})` : sql`null`
  return sql`queues(project_id, destination_id) as (
    select id, substr(id, 1, 0) from (${first}) as first_project
    union all
    select case when (${nextDestination}) is null then ${afterLast} else q.project_id end, coalesce((${nextDestination}), '')
    from queues q where q.project_id is not null
  )`
}

/** The queues `q` with their destinations `t`. A cross join makes SQLite read the queues first. */
export const QUEUES = sql`queues q cross join destinations t
  where t.project_id = q.project_id and t.id = q.destination_id`

export const isActive = sql`t.active = 1 and t.deleted_at is null`
