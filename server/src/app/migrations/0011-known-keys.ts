import { sql } from 'kysely'
import type { Migration } from '../../platform/database/index.ts'

/**
 * Whenever a key changes, its project gets another mark: while the mark is the same, so are all its keys. Whoever makes the
 * change, and with which version of the program, the trigger sees it. Marks are random, so that none comes again, whatever
 * else is turned back. The column comes in steps: with its default at once the table would be written anew, and a backup
 * that is under way would find it empty. In the trigger nothing is joined, since the plan is kept: made for one key, it would
 * compare each with each of ten thousand.
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
 * Tokens of keys that are known to be as they were when their project's mark was read, and to have no limit of their own: in
 * one statement of the client, so in one transaction. Every project gives what all its requests need (one, or what
 * `needed` says), if it has so much and still has its mark; that takes the locks, in the order of the index. Nothing is
 * joined, since a plan that is kept from the first morning would go through whole tables, and `is null` would be answered by
 * the index of names. Returns which projects gave, where not all did.
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
 * Of PostgreSQL: SQLite has a thread of ours beside it, which keeps keys while nobody else writes. The function of 0009 stays
 * for processes of the build before.
 */
export const knownKeys: Migration = {
  name: '0011-known-keys',
  async up(db, types) {
    if (types.bytes === 'blob') return
    for (const statement of [...MARKS, ISSUE]) await sql.raw(statement).execute(db)
  },
}
