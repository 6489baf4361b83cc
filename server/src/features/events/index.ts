/** Events: immutable records of completed redemptions, stored exactly as they will be sent. Does not depend on webhooks. */
export { eventRoutes } from './event.routes.ts'
export {
  EVENTS_WRITTEN,
  type EventHead,
  type EventRow,
  type EventTables,
  findEvent,
  findShownEvents,
  insertEvent,
} from './event.store.ts'
export { eventSource } from './event.ts'
export { EVENT_SCHEMAS } from './event-schemas.ts'
export { listOldEvents, listProjectsWithEventsBefore, type OldEvents } from './old-event.store.ts'
export { listOutboxEventIds } from './outbox.store.ts'
export { removeEventsOfProject } from './remove-events.ts'
export { reportRoutes } from './report.routes.ts'
export { eventSchemaRoutes, schemaText } from './schema.routes.ts'
export { type NewEvent, newEventId, type WrittenEvent, writeEvent } from './write-event.ts'
