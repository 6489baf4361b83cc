/** Webhooks and distributions: destinations of events and their secrets. Only `deliveries` imports this feature. */
export { checkTargetRoutes } from './check-target.routes.ts'
export { destinationRoutes } from './destination.routes.ts'
export {
  DESTINATIONS_CHANGED,
  type DestinationKind,
  type DestinationRow,
  type DestinationTables,
  deleteDestinationsOfProject,
  findDestination,
  findDestinations,
  listFailing,
  listNeededKeyIds,
  markDestinationsDeleted,
} from './destination.store.ts'
export { eventsOf } from './destination.ts'
export { disableUnreachable } from './destination-changes.ts'
export {
  finishRelease,
  forgetPreviousSecrets,
  forgetSkips,
  listReleased,
} from './destination-jobs.store.ts'
export { distributionRoutes } from './distribution.routes.ts'
export { openHeaders } from './extra-headers.ts'
export { type Reencryption, reencryptSecrets } from './reencrypt-secrets.ts'
export { openSecrets } from './signing-secret.ts'
