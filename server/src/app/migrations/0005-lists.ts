import type { Migration } from '../../platform/database/index.ts'

/**
 * An index, newest first, for every filter of a list that grows with traffic: rare rows are found without scanning others,
 * and the last page costs as much as the first.
 */
export const lists: Migration = {
  name: '0005-lists',
  async up(db) {
    const index = (name: string, table: string, columns: string[]) =>
      db.schema.createIndex(name).on(table).columns(columns).execute()

    await index('events_of_kind', 'events', ['project_id', 'kind', 'created_at', 'id'])
    // The audit log is written only by changes of operators, so more indexes do not slow down traffic. A query across
    // projects cannot use an index that starts with the project.
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
