/** Customers and their personal data. Does not depend on campaigns: `compose.ts` passes in what customers hold. */
export { Customer, customerRoutes } from './customer.routes.ts'
export {
  type CustomerRow,
  deleteCustomersOfProject,
  findCustomer,
  findCustomerById,
  listCustomersByCursor,
} from './customer.store.ts'
export {
  type CustomerFields,
  customerFields,
  customerView,
  type Holding,
  simpleCustomerView,
} from './customer.ts'
export { requireCustomer, requireLockedCustomer, saveCustomer } from './save-customer.ts'
