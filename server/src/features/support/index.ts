/** Support: reads a customer with cards, points and redemptions, for operators. It changes nothing. */
export { supportRoutes } from './support.routes.ts'
