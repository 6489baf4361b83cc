import {
  MutationCache,
  QueryCache,
  QueryClient,
  queryOptions,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query'
import { api, isSignedOut, read } from './client.ts'
import type { paths } from './schema.ts'

type Path = keyof paths & string
type Operation<P extends Path> = paths[P] extends { get: infer O } ? O : never
type Json<R> = R extends { content: { 'application/json': infer T } } ? T : never
/** Paths that can be read. */
export type ReadPath = { [P in Path]: Operation<P> extends never ? never : P }[Path]
/** The body of a successful answer. */
export type AnswerOf<P extends ReadPath> =
  Operation<P> extends { responses: { 200: infer R } } ? Json<R> : never
type ParametersOf<P extends ReadPath> = Operation<P> extends { parameters: infer T } ? T : never
type Given<T, K extends string> = T extends { [N in K]: infer V }
  ? V
  : T extends { [N in K]?: infer V }
    ? V
    : never
export interface ReadParameters<P extends ReadPath> {
  readonly path?: Given<ParametersOf<P>, 'path'>
  readonly query?: Given<ParametersOf<P>, 'query'>
}
/** An entry of a list. */
export type EntryOf<P extends ReadPath> = AnswerOf<P> extends { data: (infer T)[] } ? T : never

interface Options {
  /** Milliseconds between two reads while the page is visible. */
  readonly pollMs?: number
  readonly enabled?: boolean
}

/** True if only the filters differ. Data of another project or key must never stand under the wrong name. */
const isSameThing = (before: unknown, now: { readonly path?: unknown }): boolean =>
  JSON.stringify((before as { path?: unknown } | undefined)?.path) === JSON.stringify(now.path)

/** Options of a query for a GET of the management API. Its key is the path with its parameters. */
export const apiQuery = <P extends ReadPath>(
  path: P,
  parameters: ReadParameters<P> = {},
  { pollMs, enabled = true }: Options = {},
) =>
  queryOptions({
    queryKey: [path, parameters] as const,
    queryFn: ({ signal }): Promise<AnswerOf<P>> =>
      read(api.GET(path as never, { params: parameters, signal } as never)) as Promise<AnswerOf<P>>,
    enabled,
    // Another filter of the same thing: the old rows stay until the new ones are there.
    placeholderData: (
      previous: AnswerOf<P> | undefined,
      query: { queryKey: readonly unknown[] } | undefined,
    ) => (isSameThing(query?.queryKey[1], parameters) ? previous : undefined),
    ...(pollMs !== undefined && { refetchInterval: pollMs }),
  })

/** Reads from the management API, and keeps what was read. */
export const useApi = <P extends ReadPath>(path: P, parameters?: ReadParameters<P>, options?: Options) =>
  useQuery(apiQuery(path, parameters, options))

/** A change through the management API. Afterwards everything on the page is read again. */
export function useChange<Input, Result>(change: (input: Input) => Promise<Result>) {
  const client = useQueryClient()
  return useMutation({ mutationFn: change, onSuccess: () => void client.invalidateQueries() })
}

export const WHOAMI = ['/whoami', {}] as const

export function createQueryClient(): QueryClient {
  const client: QueryClient = new QueryClient({
    mutationCache: new MutationCache({
      onError(error) {
        if (isSignedOut(error)) void client.invalidateQueries({ queryKey: WHOAMI })
      },
    }),
    queryCache: new QueryCache({
      onError(error, query) {
        // The page for signing in follows from the answer to this one query.
        if (isSignedOut(error) && query.queryKey[0] !== WHOAMI[0])
          void client.invalidateQueries({ queryKey: WHOAMI })
      },
    }),
    defaultOptions: {
      queries: { networkMode: 'always', retry: false, staleTime: 2_000, refetchOnWindowFocus: true },
      mutations: { networkMode: 'always', retry: false },
    },
  })
  return client
}
