/** Publications: notifications that the distributions of loyalty campaigns sent to customers. */
export { publicationRoutes } from './publication.routes.ts'
export {
  type Fields,
  fieldsOf,
  makePublication,
  type PublicationRow,
  type PublicationTables,
} from './publication.ts'
