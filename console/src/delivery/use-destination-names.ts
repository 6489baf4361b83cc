import { destinationNames, targetText } from './destination-names.ts'
import { useDestinations } from './use-destinations.ts'

/** The name of a destination by its id. One that was deleted is named by the target of its delivery. */
export function useDestinationNames(projectId: string): (id: string, url: string | null) => string {
  const names = destinationNames(useDestinations(projectId).data ?? [])
  return (id, url) => names.get(id) ?? targetText(url)
}
