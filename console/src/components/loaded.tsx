import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { ErrorState, Skeleton } from './notices.tsx'

interface LoadedProps<T> {
  readonly query: UseQueryResult<T>
  readonly lines?: number
  readonly children: (data: T) => ReactNode
}

/** A query as a view: bars while it loads, its error, or its data. The last data stays if a later read fails. */
export function Loaded<T>({ query, lines = 3, children }: LoadedProps<T>) {
  if (query.data !== undefined) return children(query.data)
  if (query.error) return <ErrorState error={query.error} onRetry={() => void query.refetch()} />
  return <Skeleton lines={lines} />
}
