import { api, read } from '../../api/client.ts'
import { useApi } from '../../api/query.ts'
import type { Destination } from '../../delivery/use-destinations.ts'

export interface DestinationProps {
  readonly projectId: string
  readonly destination: Destination
}

export type DestinationKind = 'webhook' | 'distribution'

/** The prefix of its id tells the kind. */
export const kindOf = (id: string): DestinationKind => (id.startsWith('distr_') ? 'distribution' : 'webhook')

const PATHS = {
  webhook: '/projects/{project_id}/webhooks/{webhook_id}',
  distribution: '/projects/{project_id}/distributions/{distribution_id}',
} as const

const parametersOf = (projectId: string, id: string) => ({
  path: { project_id: projectId, [`${kindOf(id)}_id`]: id },
})

/** Reads a webhook or a distribution; both have the fields that pages show. */
export function useDestination(projectId: string, id: string, pollMs: number) {
  const options = { pollMs }
  const path = PATHS[kindOf(id)] as (typeof PATHS)['webhook']
  return useApi(path, parametersOf(projectId, id) as never, options)
}

type Verb = 'enable' | 'disable' | 'rotate-secret' | 'test'

interface Call {
  readonly projectId: string
  readonly id: string
  readonly body?: object
  readonly query?: object
}

/** Calls a verb of a webhook or a distribution; both kinds answer with the same fields. */
export function callVerb<Result>(verb: Verb, { projectId, id, body, query }: Call): Promise<Result> {
  const parameters = { ...parametersOf(projectId, id), ...(query && { query }) }
  const path = `${PATHS[kindOf(id)]}/${verb}`
  return read(
    api.POST(path as never, { params: parameters, ...(body && { body }) } as never),
  ) as Promise<Result>
}

export const updateDestination = (projectId: string, id: string, body: object): Promise<Destination> =>
  read(api.PUT(PATHS[kindOf(id)] as never, { params: parametersOf(projectId, id), body } as never))

export const deleteDestination = (projectId: string, id: string): Promise<unknown> =>
  read(api.DELETE(PATHS[kindOf(id)] as never, { params: parametersOf(projectId, id) } as never))
