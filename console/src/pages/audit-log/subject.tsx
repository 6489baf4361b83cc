import { Link, type LinkProps } from '@tanstack/react-router'
import type { Schemas } from '../../api/client.ts'
import { FilterLink } from './filter-link.tsx'

type Entry = Schemas['AuditEntry']

/** The page of a subject, by its type and then by its id. */
const PAGES: Readonly<Record<string, readonly [to: string, parameter: string]>> = {
  api_key: ['/projects/$projectId/api-keys/$keyId', 'keyId'],
  webhook: ['/projects/$projectId/destinations/$destinationId', 'destinationId'],
  distribution: ['/projects/$projectId/destinations/$destinationId', 'destinationId'],
  delivery: ['/projects/$projectId/deliveries/$deliveryId', 'deliveryId'],
  event: ['/projects/$projectId/events/$eventId', 'eventId'],
  customer: ['/projects/$projectId/customers/$customerId', 'customerId'],
}

function linkTo({ project_id, subject, after }: Entry): LinkProps | undefined {
  const page = PAGES[subject.type]
  if (!page || project_id === null || after === null) return undefined
  return { to: page[0], params: { projectId: project_id, [page[1]]: subject.id } } as LinkProps
}

/** Its name at that time, if it has one. */
function nameOf({ before, after }: Entry): string | undefined {
  const { name } = (after ?? before ?? {}) as { name?: unknown }
  return typeof name === 'string' ? name : undefined
}

/** The changed resource: a link to its page, and its id, which narrows the log to it. */
export function Subject({ entry }: { entry: Entry }) {
  const { subject } = entry
  const shown = <bdi>{nameOf(entry) ?? subject.type.replaceAll('_', ' ')}</bdi>
  const link = linkTo(entry)
  return (
    <>
      {link ? <Link {...link}>{shown}</Link> : shown}
      <div className="small">
        <FilterLink name="subject" value={subject.id} title={`Changes of ${subject.id}`}>
          <span className="mono">{subject.id}</span>
        </FilterLink>
      </div>
    </>
  )
}
