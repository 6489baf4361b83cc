/** Webhooks and distributions: where events are sent, and with which secret. Nobody imports it: what happens does not know who is told. */
export { destinationRoutes } from './destination.routes.ts'
export {
  deleteDestinationsOfProject,
  forgetPreviousSecrets,
  markDestinationsDeleted,
} from './destination.store.ts'
