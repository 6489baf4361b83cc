import type { Migration } from '../../platform/database/index.ts'

/**
 * Every filter of a list that grows with traffic has an index which is newest first behind it: what is rare is found
 * without passing what is not, and the last page costs what the first does.
 */
export const lists: Migration = {
  name: '0005-lists',
  async up(db) {
    const index = (name: string, table: string, columns: string[]) =>
      db.schema.createIndex(name).on(table).columns(columns).execute()

    await index('events_of_kind', 'events', ['project_id', 'kind', 'created_at', 'id'])
    // Written by people's changes alone, so that more indexes cost no traffic anything. What is asked for across
    // projects cannot go by an index of each.
    await index('audit_log_action', 'audit_log', ['action', 'at', 'id'])
    await index('audit_log_actor', 'audit_log', ['actor_id', 'at', 'id'])
    await index('audit_log_actor_action', 'audit_log', ['actor_id', 'action', 'at', 'id'])
    await index('audit_log_subject', 'audit_log', ['subject_id', 'at', 'id'])
    await index('audit_log_project_action', 'audit_log', ['project_id', 'action', 'at', 'id'])
    await index('audit_log_project_actor', 'audit_log', ['project_id', 'actor_id', 'at', 'id'])
    await index('audit_log_project_actor_action', 'audit_log', [
      'project_id',
      'actor_id',
      'action',
      'at',
      'id',
    ])
    await index('audit_log_project_subject', 'audit_log', ['project_id', 'subject_id', 'at', 'id'])
  },
}
