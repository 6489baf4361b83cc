/** Deliveries: every event on its way to every destination, sent at least once and on record. Nobody imports it: what happens does not know who is told. */
export { deliveryRoutes } from './delivery.routes.ts'
export { startDelivery } from './delivery.worker.ts'
export { publicationRoutes } from './publication.routes.ts'
export { createRetention, type Retention, removeDeliveriesOfProject } from './remove-deliveries.ts'
export { sendDelivery } from './send-delivery.ts'
export { signEventRoutes } from './sign-event.routes.ts'
