import { useQuery } from '@tanstack/react-query'
import type { Event } from '../../delivery/event.ts'
import type { Describe } from '../../delivery/json-tree.tsx'

interface Schema {
  readonly description?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
}

/** The schemas that receivers get, loaded when an event is shown, by their name without `.json`. */
const FILES = Object.fromEntries(
  Object.entries(import.meta.glob<Schema>('../../../../docs/events/*.json', { import: 'default' })).map(
    ([path, load]) => [path.split('/').at(-1)!.replace('.json', ''), load],
  ),
)

/** Looks a field of the body up in the schema of the event. */
export function useDescriptions({ type, version }: Pick<Event, 'type' | 'version'>): Describe {
  const name = `${type}.${version}`
  const load = FILES[name]
  const { data: schema } = useQuery({
    queryKey: ['event schema', name],
    queryFn: () => load!(),
    enabled: load !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
  })
  return (path) =>
    path.reduce<Schema | undefined>(
      (found, name) => (typeof name === 'number' ? found?.items : found?.properties?.[name]),
      schema,
    )?.description
}
