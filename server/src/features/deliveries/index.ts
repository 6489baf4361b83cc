/** Deliveries: sends every event to every destination at least once, and keeps the record. No feature imports it. */
export { deliveryRoutes } from './delivery.routes.ts'
export { startDelivery } from './delivery.worker.ts'
export { makePayload } from './payload.ts'
export { queueRoutes } from './queue.routes.ts'
export { createRetention, type Retention, removeDeliveriesOfProject } from './remove-deliveries.ts'
export { sendDelivery } from './send-delivery.ts'
export { signEventRoutes } from './sign-event.routes.ts'
