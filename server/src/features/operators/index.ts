/** Operators: users of the management API and their credentials. Does not depend on API keys. */
export { createOperatorGuard } from './authenticate-operator.ts'
export { createOperator, createOperatorIn, ensureConfiguredOperator } from './create-operator.ts'
export { createLoginCode } from './login-code.ts'
export { operatorRoutes } from './operator.routes.ts'
export { countOperators, listOperatorNames } from './operator.store.ts'
export { sessionRoutes } from './session.routes.ts'
export { removeEndedSessions } from './session.store.ts'
export { createSessionCookies } from './session-cookie.ts'
