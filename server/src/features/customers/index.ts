/** Customers: who they are. It never knows what they hold; whoever keeps cards tells it. */
export { customerRoutes } from './customer.routes.ts'
export { type CustomerRow, deleteCustomersOfProject, findCustomerById } from './customer.store.ts'
export {
  type CustomerFields,
  customerFields,
  customerView,
  type Holding,
  simpleCustomerView,
} from './customer.ts'
export { requireCustomer, requireLockedCustomer, saveCustomer } from './save-customer.ts'
