/** The audit log: who changed what, when and from where. Entries are never changed and contain no secrets. */
export { auditRoutes } from './audit.routes.ts'
export { hasAuditEntry } from './audit.store.ts'
export { type Change, recordChange } from './record-change.ts'
