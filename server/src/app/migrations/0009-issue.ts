import { sql } from 'kysely'
import type { Migration } from '../../platform/database/index.ts'

/**
 * Issues tokens of keys without their own limit in one statement, and so in one transaction. First every project gives the
 * credits for all its requests, if it has enough. That takes the locks in index order. Tokens are then inserted from the
 * state under the locks: each statement of a function sees what was committed before it. The tables are not joined, because
 * a cached plan from when they were empty would scan them: counts are looked up in one value, keys one by one (`offset 0`),
 * and `is null` would use the index of names.
 *
 * Credits that a project gave for a key that has changed meanwhile, or that has a limit, are returned.
 */
const ISSUE = `
create or replace function jeton_issue(of_projects text[], of_keys text[], versions bigint[], scopes text[], digests bytea,
  asked_at bigint, lifetime bigint, out issued_at bigint, out granted text)
language plpgsql
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off
as $$
declare
  digest_length int := octet_length(digests) / cardinality(of_projects);
  needed jsonb;
  gave jsonb;
  unused jsonb;
  made bigint[];
begin
  select jsonb_object_agg(id, count) into needed
  from (select id, count(*) as count from unnest(of_projects) as id group by id) each;

  with giving as (
    update projects set credits = credits - (needed -> id)::bigint
    where id = any(of_projects) and coalesce(deleted_at, 0) = 0 and credits >= (needed -> id)::bigint
    returning id
  )
  select jsonb_object_agg(id, true) into gave from giving;

  issued_at := greatest(jeton_now(), asked_at, (select coalesce(max(expires_at), 0) - lifetime from tokens));

  with allowed as materialized (
    select a.project_id, a.key_id, k.epoch, a.scope, a.n
    from unnest(of_projects, of_keys, versions, scopes) with ordinality as a(project_id, key_id, version, scope, n)
    cross join lateral (
      select epoch from api_keys
      where project_id = a.project_id collate "C" and id = a.key_id collate "C" and version = a.version
        and state = 'active' and token_limit is null
      offset 0
    ) k
    where gave ? a.project_id
  ),
  inserted as (
    insert into tokens (project_id, digest, key_id, epoch, scope, expires_at, revoked_at)
    select project_id, substring(digests from (n::int - 1) * digest_length + 1 for digest_length), key_id, epoch, scope,
      issued_at / 1000 * 1000 + lifetime, null
    from allowed
  )
  select string_agg(n || ' ' || epoch, ' '), array_agg(n) into granted, made from allowed;

  if gave is not null and coalesce(cardinality(made), 0) < cardinality(of_projects) then
    select jsonb_object_agg(id, count) into unused
    from (
      select id, count(*) as count from unnest(of_projects) with ordinality as a(id, n)
      where gave ? id and n <> all(coalesce(made, '{}')) group by id
    ) each;
    update projects set credits = credits + (unused -> id)::bigint where id = any(of_projects) and unused ? id;
  end if;
end $$`

/** PostgreSQL only: SQLite uses its writer thread. The function may still exist after all tables were dropped. */
export const issue: Migration = {
  name: '0009-issue',
  async up(db, types) {
    if (types.bytes !== 'blob') await sql.raw(ISSUE).execute(db)
  },
}
