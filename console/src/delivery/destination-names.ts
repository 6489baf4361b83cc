const MAX_TARGET = 60
const SHOWN_OF_ID = 10

/** Host and path of a target, since several may have the same host. Text that is no URL is shown as it is. */
export function targetText(url: string | null): string {
  if (url === null) return 'deleted destination'
  const { host, pathname, search } = URL.canParse(url)
    ? new URL(url)
    : { host: url, pathname: '/', search: '' }
  const text = pathname + search === '/' ? host : host + pathname + search
  return text.length > MAX_TARGET ? `${text.slice(0, MAX_TARGET)}…` : text
}

interface Named {
  readonly id: string
  readonly target_url: string | null
  readonly name?: string | null
}

/** Its own name, else its target. */
export const nameOf = ({ name, target_url }: Named): string => name || targetText(target_url)

/** Names by id. Destinations that would look the same also show the start of their id. */
export function destinationNames(destinations: readonly Named[]): ReadonlyMap<string, string> {
  const same = Map.groupBy(destinations, nameOf)
  return new Map(
    destinations.map((one) => {
      const name = nameOf(one)
      return [one.id, same.get(name)!.length === 1 ? name : `${name} (${one.id.slice(0, SHOWN_OF_ID)}…)`]
    }),
  )
}
