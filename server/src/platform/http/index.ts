/** HTTP: one error format, one client address, access rules by route. It receives the guards and knows no feature. */
export type {
  Access,
  Actor,
  ApiRequest,
  ApiResponse,
  App,
  FastHandler,
  Guard,
  Guards,
  RawRequest,
} from './app.ts'
export type { Form } from './body-parsers.ts'
export type { ClientAddress } from './client-address.ts'
export {
  addErrorPages,
  addReference,
  escapeHtml,
  linkList,
  type ReferenceDeps,
  sendPage,
} from './docs-pages.ts'
export { type ErrorContext, unavailable } from './errors.ts'
export { fastifyHandler, pathOf } from './hooks.ts'
export { LoginThrottle } from './login-throttle.ts'
export * from './pagination.ts'
export { REQUEST_ID_PATTERN } from './request-id.ts'
export * from './schema-fields.ts'
export { createHttp, type Http, type HttpDeps } from './server.ts'
export { ALL_METHODS } from './unrouted.ts'
