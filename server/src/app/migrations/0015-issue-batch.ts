import { sql } from 'kysely'
import type { Migration } from '../../platform/database/index.ts'

/** Counts the active tokens of a project or of one of its keys, and finds when the next one expires. */
const ACTIVE_TOKENS = `
create or replace function jeton_active_tokens(of_project text, of_key text, as_of bigint, out active bigint, out oldest bigint)
language plpgsql
as $$
begin
  -- Counted by key and epoch first, so that each key is looked up once and not once per token.
  select coalesce(sum(t.active), 0), min(t.oldest) into active, oldest
  from (
    select key_id, epoch, count(*) as active, min(expires_at) as oldest from tokens
    where project_id = of_project and revoked_at is null and expires_at > as_of and key_id = coalesce(of_key, key_id)
    group by key_id, epoch
  ) t
  cross join lateral (
    select 1 from api_keys where project_id = of_project and id between t.key_id and t.key_id and epoch = t.epoch
    order by id limit 1
  ) k;
end $$`

/**
 * Issues a batch of tokens in one statement, and so in one transaction. The rules are in `issue-batch.ts`.
 *
 * Every statement of a function sees what was committed before it, so everything that is read after the locks is current.
 * A key is only read if its project has another `keys_mark` than the request was checked with: a trigger changes it
 * whenever one of the project's keys changes. Keys with their own limit are always read.
 *
 * A plan is cached for the life of a connection and may have been made when the tables were empty. So the settings allow
 * index lookups only, the tables are not joined, and a key is looked up by a range of its primary key.
 *
 * `results` has one entry per request, or is null if all were issued: `issued`, `stale`, or the full quota and the time
 * of its next credit. `keys_versions` has those of the requests whose key was read.
 */
const ISSUE_BATCH = `
create or replace function jeton_issue_batch(of_projects text[], of_keys text[], key_versions bigint[], epochs bigint[],
  known_versions text[], scopes text[], digests bytea, asked_at bigint, lifetime bigint, lock_wait text,
  out issued_at bigint, out results text, out keys_versions text)
language plpgsql
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off
set plan_cache_mode = force_generic_plan
as $$
declare
  requests int := cardinality(of_projects);
  digest_length int := octet_length(digests) / requests;
  expires bigint;
  ids text[];
  limits bigint[];
  credits_left bigint[];
  next_expiries bigint[];
  versions text[];
  key_ids text[] := '{}';
  key_credits bigint[] := '{}';
  key_expiries bigint[] := '{}';
  result_of text[] := array_fill(null::text, array[requests]);
  version_of text[] := array_fill(null::text, array[requests]);
  issued int := requests;
  is_any_read boolean := false;
  p int;
  k int;
  found_key record;
  counted record;
begin
  if lock_wait is not null then perform set_config('lock_timeout', lock_wait, true); end if;
  select array_agg(id), array_agg(token_limit), array_agg(credits), array_agg(full_until), array_agg(keys_mark::text)
  into ids, limits, credits_left, next_expiries, versions
  from (
    select id, token_limit, credits, full_until, keys_mark from projects
    where id = any(of_projects) and coalesce(deleted_at, 0) = 0 order by id for update
  ) locked;
  issued_at := greatest(jeton_now(), asked_at, (select coalesce(max(expires_at), 0) - lifetime from tokens));
  expires := issued_at / 1000 * 1000 + lifetime;

  for i in 1 .. coalesce(cardinality(ids), 0) loop
    if credits_left[i] < requests and coalesce(next_expiries[i], 0) <= issued_at
      and credits_left[i] < cardinality(array_positions(of_projects, ids[i])) then
      counted := jeton_active_tokens(ids[i], null, issued_at);
      credits_left[i] := greatest(limits[i] - counted.active, 0);
      next_expiries[i] := counted.oldest;
    end if;
  end loop;

  for i in 1 .. requests loop
    p := array_position(ids, of_projects[i]);
    k := null;
    if p is not null and known_versions[i] <> versions[p] then
      select token_limit, credits, full_until into found_key from api_keys
      where project_id = of_projects[i] and id between of_keys[i] and of_keys[i]
        and version = key_versions[i] and epoch = epochs[i] and state = 'active'
      order by id limit 1;
      if not found then
        p := null;
      elsif found_key.token_limit is null then
        version_of[i] := versions[p];
        is_any_read := true;
      else
        k := array_position(key_ids, of_keys[i]);
        if k is null then
          k := cardinality(key_ids) + 1;
          if found_key.credits < cardinality(array_positions(of_keys, of_keys[i]))
            and coalesce(found_key.full_until, 0) <= issued_at then
            counted := jeton_active_tokens(of_projects[i], of_keys[i], issued_at);
            found_key.credits := greatest(found_key.token_limit - counted.active, 0);
            found_key.full_until := counted.oldest;
          end if;
          key_ids[k] := of_keys[i];
          key_credits[k] := found_key.credits;
          key_expiries[k] := found_key.full_until;
        end if;
      end if;
    end if;

    if p is null then
      result_of[i] := 'stale';
    elsif key_credits[k] <= 0 then
      result_of[i] := 'key:' || coalesce(key_expiries[k], expires);
    elsif credits_left[p] <= 0 then
      result_of[i] := 'project:' || coalesce(next_expiries[p], expires);
    else
      credits_left[p] := credits_left[p] - 1;
      if k is not null then key_credits[k] := key_credits[k] - 1; end if;
      continue;
    end if;
    issued := issued - 1;
  end loop;

  insert into tokens (project_id, digest, key_id, epoch, scope, expires_at, revoked_at)
  select project_id, substring(digests from (n::int - 1) * digest_length + 1 for digest_length), key_id, epoch, scope,
    expires, null
  from unnest(of_projects, of_keys, epochs, scopes, result_of) with ordinality
    as a(project_id, key_id, epoch, scope, result, n)
  where result is null;

  -- Credits of expired tokens are kept only if a token was issued, which fixes the time for all later batches. Else a clock
  -- that is ahead and goes back would leave credits of tokens that are still active.
  update projects set credits = credits_left[array_position(ids, id)], full_until = next_expiries[array_position(ids, id)]
  where id = any(ids) and (issued > 0 or credits_left[array_position(ids, id)] <= 0);
  if cardinality(key_ids) > 0 then
    update api_keys set credits = key_credits[array_position(key_ids, id)],
      full_until = key_expiries[array_position(key_ids, id)]
    where project_id = any(ids) and id = any(key_ids) and (issued > 0 or key_credits[array_position(key_ids, id)] <= 0);
  end if;

  if issued < requests then results := array_to_string(result_of, ' ', 'issued'); end if;
  if is_any_read then keys_versions := array_to_string(version_of, ' ', '-'); end if;
end $$`

/**
 * PostgreSQL only: SQLite issues in a procedure on its writer thread. Earlier versions of Jeton that run beside this one
 * during an upgrade issue without the earlier functions when they find them missing.
 */
export const issueBatch: Migration = {
  name: '0015-issue-batch',
  async up(db, types) {
    if (types.bytes === 'blob') return
    for (const statement of [
      ACTIVE_TOKENS,
      ISSUE_BATCH,
      'drop function if exists jeton_issue',
      'drop function if exists jeton_issue_known',
    ])
      await sql.raw(statement).execute(db)
  },
}
