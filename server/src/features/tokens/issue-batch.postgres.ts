import { BY_KEY, type SqlConnection, StoreUnavailable } from '../../platform/database/index.ts'
import { type IssueInput, type IssueOutcome, type KeysVersion, only } from './issue.ts'
import { DIGEST_BYTES, expiryOf, LIFETIME_MS, secondsUntilFree } from './token.ts'

/** A batch that waits for the lock of one project keeps everybody in it waiting. Locks are held for milliseconds. */
const LOCK_TIMEOUT_MS = 250
const QUICK_LOCKS = `set_config('lock_timeout', '${LOCK_TIMEOUT_MS}', true)`
const LOCK_NOT_AVAILABLE = '55P03'

const isLocked = (error: unknown): boolean =>
  error instanceof StoreUnavailable && (error.cause as { code?: unknown })?.code === LOCK_NOT_AVAILABLE

/** Nothing was kept of what met a locked project. What was decided before stays decided. */
function leaveUndecided(error: unknown): void {
  if (!isLocked(error)) throw error
}

/**
 * One statement (migration 0011) for keys that have not changed since they were checked; requests that it does not grant take several. An
 * argument of the function depends on the timeout, so that the timeout is set before the function runs.
 */
const ISSUE = `select issued_at, gave
  from (select $9::bigint + (${QUICK_LOCKS} is null)::int as asked_at offset 0) asked,
    jeton_issue_known($1::text[], $2::text[]::uuid[], $3::text::jsonb, $4::int, $5::text[], $6::bigint[], $7::text[], $8::bytea, asked.asked_at, ${LIFETIME_MS})`

interface Issued {
  readonly issued_at: number
  /** The projects that had room and still their mark; null where all did. */
  readonly gave: string | null
}

const UNKNOWN_FUNCTION = '42883'

/** A copy of the tables alone does not have it: all then go the long way. */
function nothingIfUnknown(error: { code?: unknown }): [] {
  if (error.code !== UNKNOWN_FUNCTION) throw error
  return []
}

/**
 * The places of those whose keys are confirmed. Of keys of one project with different marks one at least is out of date: all
 * of them go the long way.
 */
function unchangedIn({ projectIds, keysVersions }: IssueInput): number[] {
  const marks = new Map<string, string>()
  const changed = new Set<string>()
  for (const [i, id] of projectIds.entries()) {
    const mark = keysVersions[i]?.keysVersion
    if (mark !== undefined && mark !== (marks.get(id) ?? mark)) changed.add(id)
    if (mark !== undefined) marks.set(id, mark)
  }
  return projectIds.flatMap((id, i) => (keysVersions[i] && !changed.has(id) ? [i] : []))
}

/** How many each of them needs, where it is more than one. */
function neededBy(projectIds: readonly string[], projects: ReadonlySet<string>): Record<string, number> {
  const needed: Record<string, number> = {}
  if (projects.size === projectIds.length) return needed
  const numbers = new Map<string, number>()
  for (const id of projectIds) numbers.set(id, (numbers.get(id) ?? 0) + 1)
  for (const [id, number] of numbers) if (number > 1) needed[id] = number
  return needed
}

async function issueUnchanged(sql: SqlConnection, asked: IssueInput): Promise<Outcomes> {
  const { now, projectIds, keyIds, scopes, digests } = asked
  const keysVersions = asked.keysVersions as readonly KeysVersion[]
  const projects = new Set(projectIds)
  const parameters = [
    projectIds,
    keysVersions.map(({ keysVersion }) => keysVersion),
    JSON.stringify(neededBy(projectIds, projects)),
    projects.size,
    keyIds,
    keysVersions.map(({ epoch }) => epoch),
    scopes,
    Buffer.from(digests.buffer),
    now,
  ]
  const [issued] = await despiteDeadlocks(() => sql.send<Issued>(ISSUE, parameters)).catch(nothingIfUnknown)
  if (!issued) return projectIds.map(() => undefined)
  const expiresAt = expiryOf(issued.issued_at)
  const gave = issued.gave === null ? undefined : new Set(issued.gave.split(' '))
  return projectIds.map((id, i) =>
    !gave || gave.has(id) ? { status: 'issued', epoch: keysVersions[i]!.epoch, expiresAt } : undefined,
  )
}

/**
 * Enough for their keys, too: whoever changes one locks its project first. Names the transaction as well. All statements are
 * sent at once: should the connection be cut and made anew in between, what is left of them would run alone, without
 * locks; without the name they do nothing.
 */
const LOCK_PROJECTS = `select set_config('jeton.batch', $2, true) from
  (select 1 from projects where id = any($1::text[]) order by id for update) locked`
const IN_BATCH = (parameter: string) => `current_setting('jeton.batch', true) = ${parameter}`

/**
 * Grants as many as there are credits for, in the order of arrival, and returns what it found for every request whose
 * key still has the version it was checked against. `jeton_now()` is the one clock. Projects and keys are looked up one
 * by one (`offset 0` keeps the planner from anything else): of small tables it would go through all rows for each
 * request, and keep to that when they have grown.
 */
const GRANT = `
with asked as (
  select a.project_id collate "C", a.key_id collate "C", a.version, a.scope, a.n,
    substring($5::bytea from (a.n::int - 1) * ${DIGEST_BYTES} + 1 for ${DIGEST_BYTES}) as digest
  from unnest($1::text[], $2::text[], $3::bigint[], $4::text[]) with ordinality as a(project_id, key_id, version, scope, n)
),
clock as (
  select greatest(jeton_now(), $6::bigint, (select coalesce(max(expires_at), 0) - ${LIFETIME_MS} from tokens)) as now
),
fresh as (
  select a.*, k.epoch, case when k.token_limit is null then p.keys_mark end as mark, p.credits as project_credits, p.full_until as project_full_until,
    case when k.token_limit is not null then k.credits end as key_credits, k.full_until as key_full_until,
    row_number() over (partition by a.project_id, a.key_id order by a.n) as place_of_key
  from asked a
  cross join lateral (select * from projects where id = a.project_id and deleted_at is null offset 0) p
  cross join lateral (
    select * from api_keys
    where project_id = a.project_id and id = a.key_id and version = a.version and state = 'active' offset 0
  ) k
  where ${IN_BATCH('$7')}
),
placed as (
  select f.*, r.within_key, count(*) filter (where r.within_key) over (partition by project_id order by n) as place_of_project
  from fresh f cross join lateral (select key_credits is null or place_of_key <= key_credits as within_key) r
),
decided as (select *, within_key and place_of_project <= project_credits as granted from placed),
inserted as (
  insert into tokens (project_id, digest, key_id, epoch, scope, expires_at, revoked_at)
  select project_id, digest, key_id, epoch, scope, clock.now / 1000 * 1000 + ${LIFETIME_MS}, null
  from decided, clock where granted
),
from_projects as (
  update projects p set credits = p.credits - g.count
  from (select project_id, count(*) as count from decided where granted group by project_id) g where p.id = g.project_id
),
from_keys as (
  update api_keys k set credits = k.credits - g.count
  from (
    select project_id, key_id, count(*) as count from decided where granted and key_credits is not null group by project_id, key_id
  ) g
  where k.project_id = g.project_id and k.id = g.key_id
)
select n, epoch, mark, clock.now, granted, project_full_until, key_full_until,
  not within_key and count(*) filter (where granted) over (partition by project_id, key_id) = key_credits as key_is_full
from decided cross join clock`

/**
 * Restores the credits of holders that have run out, and notes when their oldest token expires: whoever this batch still
 * finds no place for is told that time, and until then nobody needs to count again. Tokens are counted by key and epoch, and
 * only then is each key looked up, as above: nobody compares every token with every key.
 */
const counted = (same: string) => `
  select coalesce(sum(t.active), 0)::bigint as active, min(t.oldest) as oldest
  from (
    select t.project_id, t.key_id, t.epoch, count(*) as active, min(t.expires_at) as oldest from tokens t
    where t.revoked_at is null and ${same}
      and t.expires_at > greatest(jeton_now(), $2::bigint, (select coalesce(max(expires_at), 0) - ${LIFETIME_MS} from tokens))
    group by t.project_id, t.key_id, t.epoch
  ) t
  cross join lateral (
    select 1 from api_keys where project_id = t.project_id and id = t.key_id and epoch = t.epoch offset 0
  ) k`
const recount = (holder: string, same: string) => `
update ${holder} h set credits = greatest(h.token_limit - c.active, 0), full_until = c.oldest
from ${holder} o cross join lateral (${counted(same)}) c
where ${holder === 'projects' ? 'o.id = any($1::text[]) and h.id = o.id' : 'o.id = any($1::text[]) and o.token_limit is not null and h.project_id = o.project_id and h.id = o.id'}
  and ${IN_BATCH('$3')}`
const RECOUNT_PROJECTS = recount('projects', 't.project_id = o.id')
const RECOUNT_KEYS = recount('api_keys', 't.project_id = o.project_id and t.key_id = o.id')

interface Found {
  readonly n: number
  readonly epoch: number
  /** Null where the key has a limit of its own. */
  readonly mark: string | null
  readonly now: number
  readonly granted: boolean
  /** Its key's places are all given; where the project had none for them, it is the project that is full. */
  readonly key_is_full: boolean
  readonly project_full_until: number | null
  readonly key_full_until: number | null
}

interface How {
  /** Whether tokens are counted first. */
  readonly counting: boolean
  /** Whether it waits for locks as long as any other statement. */
  readonly waits: boolean
}

/**
 * The long way: sends everything at once, `commit` included, and waits once: a statement that fails turns the commit into a
 * rollback.
 */
async function attempt(sql: SqlConnection, asked: IssueInput, how: How): Promise<Found[]> {
  const { now, projectIds, keyIds, keyVersions, scopes, digests } = asked
  const batchId = Buffer.from(digests.buffer, 0, 16).toString('hex')
  const before = [sql.send('begin'), sql.send(BY_KEY)]
  if (!how.waits) before.push(sql.send(`select ${QUICK_LOCKS}`))
  before.push(sql.send(LOCK_PROJECTS, [projectIds, batchId]))
  if (how.counting)
    before.push(
      sql.send(RECOUNT_PROJECTS, [projectIds, now, batchId]),
      sql.send(RECOUNT_KEYS, [keyIds, now, batchId]),
    )
  const granting = sql.send(GRANT, [
    projectIds,
    keyIds,
    keyVersions,
    scopes,
    Buffer.from(digests.buffer),
    now,
    batchId,
  ])
  const settled = await Promise.allSettled([...before, granting, sql.send('commit')])
  for (const one of settled) if (one.status === 'rejected') throw one.reason
  return (await granting) as never as Found[]
}

const fullUntil = (found: Found): number | null =>
  found.key_is_full ? found.key_full_until : found.project_full_until

function issuedAs({ epoch, mark, now }: Found): IssueOutcome {
  const issued = { status: 'issued', epoch, expiresAt: expiryOf(now) } as const
  return mark === null ? issued : { ...issued, keysVersion: { epoch, keysVersion: mark } }
}

function outcomeOf(found: Found | undefined): IssueOutcome {
  if (!found) return { status: 'stale' }
  if (found.granted) return issuedAs(found)
  // Where nothing was active when it was counted, this batch has taken every place.
  const freeAt = fullUntil(found) ?? expiryOf(found.now)
  const quota = found.key_is_full ? 'key' : 'project'
  return { status: 'full', quota, retryAfterSeconds: secondsUntilFree(freeAt, found.now) }
}

/** A refusal is final only if the memory of fullness confirms it; else the tokens are counted and it is tried once more. */
const needsCount = (found: Found | undefined): boolean =>
  found !== undefined && !found.granted && (fullUntil(found) ?? 0) <= found.now

const DEADLOCK = '40P01'
const TRIES = 3

/** Everyone locks in one order; should someone cross ours all the same, nothing of the attempt was kept. */
async function despiteDeadlocks<T>(attempt: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++)
    try {
      return await attempt()
    } catch (error) {
      if ((error as { code?: unknown }).code !== DEADLOCK || tries === TRIES) throw error
    }
}

async function decide(sql: SqlConnection, asked: IssueInput, how: How): Promise<Outcomes> {
  const rows = await despiteDeadlocks(() => attempt(sql, asked, how))
  const byPlace = new Map(rows.map((row) => [row.n - 1, row]))
  const isOpen = (found: Found | undefined) => !how.counting && needsCount(found)
  const outcomes: Outcomes = asked.projectIds.map((_, i) =>
    isOpen(byPlace.get(i)) ? undefined : outcomeOf(byPlace.get(i)),
  )
  await fill(outcomes, openIn(outcomes), asked, (rest) =>
    decide(sql, rest, { ...how, counting: true }),
  ).catch(leaveUndecided)
  return outcomes
}

/** Those that are still to be decided have none. */
export type Outcomes = (IssueOutcome | undefined)[]

const openIn = (outcomes: Outcomes): number[] => outcomes.flatMap((outcome, i) => (outcome ? [] : [i]))

async function fill(
  outcomes: Outcomes,
  places: readonly number[],
  asked: IssueInput,
  decideSome: (some: IssueInput) => Promise<Outcomes>,
): Promise<void> {
  if (places.length === 0) return
  const decided = await decideSome(places.length === outcomes.length ? asked : only(asked, places))
  for (const [at, place] of places.entries()) outcomes[place] = decided[at]
}

export async function issueOnPostgres(sql: SqlConnection, asked: IssueInput): Promise<Outcomes> {
  const outcomes: Outcomes = asked.projectIds.map(() => undefined)
  try {
    await fill(outcomes, unchangedIn(asked), asked, (some) => issueUnchanged(sql, some))
    await fill(outcomes, openIn(outcomes), asked, (rest) =>
      decide(sql, rest, { counting: false, waits: false }),
    )
  } catch (error) {
    leaveUndecided(error)
  }
  return outcomes
}

export const issueWaitingForLocks = (sql: SqlConnection, asked: IssueInput): Promise<Outcomes> =>
  decide(sql, asked, { counting: false, waits: true })
