/**
 * HTTP: one way to refuse, one way to name a caller's address, one error body. It is handed guards and knows no feature.
 */
export {
  type BodyOf,
  countField,
  dateField,
  dateOf,
  given,
  longTextField,
  type Metadata,
  metadataField,
  metadataText,
  namedList,
  namedListOf,
  shownAs,
  sourceIdField,
  textField,
} from './api-fields.ts'
export type { Access, Actor, App, Guard, Guards } from './app.ts'
export { WrongAttempts } from './attempts.ts'
export type { Form } from './bodies.ts'
export type { CallerAddress } from './caller-address.ts'
export { type Told, unavailable } from './error-answers.ts'
export { addErrorPages } from './error-pages.ts'
export {
  filterField,
  IdParam,
  NameField,
  Nothing,
  NullableInteger,
  NullableText,
  nullable,
  strict,
} from './fields.ts'
export {
  CursorQuery,
  isoTime,
  isoTimeOrNull,
  listAnswer,
  listOf,
  moment,
  type Page,
  PageQuery,
  pageOf,
  type Rows,
  timeOf,
} from './lists.ts'
export { escapeHtml, linkList, sendPage } from './page.ts'
export { type Arrived, type Asked, answerQuickly, type Quick, type QuickAnswer } from './quick-answers.ts'
export { addReference, type ReferenceDeps } from './reference.ts'
export { REQUEST_ID_PATTERN } from './request-id.ts'
export { pathOf } from './route-hooks.ts'
export { createHttp, type Http, type HttpDeps } from './server.ts'
export { TIME } from './times.ts'
