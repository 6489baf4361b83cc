import { useQuery } from '@tanstack/react-query'
import type { Event } from './event-page.tsx'

interface Schema {
  readonly description?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
}

/** The schemas that receivers get, as files of the console, by their name without `.json`. */
const FILES = Object.fromEntries(
  Object.entries(
    import.meta.glob<string>('../../../../docs/events/*.json', {
      query: '?url',
      import: 'default',
      eager: true,
    }),
  ).map(([path, url]) => [path.split('/').at(-1)!.replace('.json', ''), url]),
)

export type Describe = (path: readonly (string | number)[]) => string | undefined

/** Looks a field of the body up in the schema of the event. */
export function useDescriptions({ type, version }: Pick<Event, 'type' | 'version'>): Describe {
  const url = FILES[`${type}.${version}`]
  const { data: schema } = useQuery({
    queryKey: ['event schema', url],
    queryFn: async (): Promise<Schema> => (await fetch(url!)).json(),
    enabled: url !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
  })
  return (path) =>
    path.reduce<Schema | undefined>(
      (found, name) => (typeof name === 'number' ? found?.items : found?.properties?.[name]),
      schema,
    )?.description
}
