/** The audit log: who changed what, when, from where. It never changes or forgets an entry, and never holds a secret. */
export { auditRoutes } from './audit.routes.ts'
export { hasAuditEntry } from './audit.store.ts'
export { type Change, recordChange } from './record-change.ts'
