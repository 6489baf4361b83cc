import { sql } from 'kysely'
import type { Migration } from '../../platform/database/index.ts'

/**
 * A trigger changes the mark of a project whenever one of its keys changes, by any version of Jeton: while the mark is the
 * same, so are the keys. Marks are random, so that none repeats after a restore. The column is added in steps: with its
 * default at once the table would be rewritten, and a running backup would find it empty. The trigger joins nothing,
 * because a cached plan made for one key would compare each of ten thousand with each other.
 */
const MARKS = [
  'alter table projects add column keys_mark uuid',
  'alter table projects alter column keys_mark set default gen_random_uuid()',
  'update projects set keys_mark = gen_random_uuid()',
  'alter table projects alter column keys_mark set not null',
  `create or replace function jeton_mark_projects() returns trigger language plpgsql as $$
  begin
    update projects set keys_mark = gen_random_uuid() where id = any(array(
      select project_id from (
        select project_id, id, version, state, epoch, token_limit from new_keys
        except select project_id, id, version, state, epoch, token_limit from old_keys
      ) changed
    ));
    return null;
  end $$`,
  `create trigger api_keys_mark after update on api_keys referencing old table as old_keys new table as new_keys
  for each statement execute function jeton_mark_projects()`,
]

/**
 * Issues tokens of keys that are unchanged since their project's mark was read and that have no limit of their own, in one
 * statement and so in one transaction. Every project gives the credits for all its requests (one, or `needed`), if it has
 * enough and still has its mark. That takes the locks in index order. The tables are not joined, because a cached plan
 * from when they were empty would scan them, and `is null` would use the index of names. Returns which projects gave
 * credits, if not all did.
 */
const ISSUE = `
create or replace function jeton_issue_known(of_projects text[], marks uuid[], needed jsonb, projects_asked int, of_keys text[],
  epochs bigint[], scopes text[], digests bytea, asked_at bigint, lifetime bigint, out issued_at bigint, out gave text)
language plpgsql
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_bitmapscan = off
as $$
declare
  digest_length int := octet_length(digests) / cardinality(of_projects);
  givers text[];
begin
  with giving as (
    update projects set credits = credits - coalesce((needed -> id)::bigint, 1)
    where id = any(of_projects) and keys_mark = any(marks) and coalesce(deleted_at, 0) = 0
      and credits >= coalesce((needed -> id)::bigint, 1)
    returning id
  )
  select coalesce(array_agg(id), '{}') into givers from giving;
  if cardinality(givers) < projects_asked then gave := array_to_string(givers, ' '); end if;

  issued_at := greatest(jeton_now(), asked_at, (select coalesce(max(expires_at), 0) - lifetime from tokens));

  insert into tokens (project_id, digest, key_id, epoch, scope, expires_at, revoked_at)
  select project_id, substring(digests from (n::int - 1) * digest_length + 1 for digest_length), key_id, epoch, scope,
    issued_at / 1000 * 1000 + lifetime, null
  from unnest(of_projects, of_keys, epochs, scopes) with ordinality as a(project_id, key_id, epoch, scope, n)
  where gave is null or project_id = any(givers);
end $$`

/**
 * PostgreSQL only: SQLite uses its writer thread, which caches keys while nobody else writes. The function of 0009 stays for
 * processes of the previous version.
 */
export const knownKeys: Migration = {
  name: '0011-known-keys',
  async up(db, types) {
    if (types.bytes === 'blob') return
    for (const statement of [...MARKS, ISSUE]) await sql.raw(statement).execute(db)
  },
}
