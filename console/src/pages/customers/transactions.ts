import { type EntryOf, useApi } from '../../api/query.ts'

export interface CustomerProps {
  readonly projectId: string
  /** Id or source id. */
  readonly customerId: string
}

export type Transaction = EntryOf<'/projects/{project_id}/customers/{customer_id}/transactions'>

const MAX = 100

/** The newest changes of points, on all cards. */
export const useTransactions = ({ projectId, customerId }: CustomerProps) =>
  useApi('/projects/{project_id}/customers/{customer_id}/transactions', {
    path: { project_id: projectId, customer_id: customerId },
    query: { limit: MAX },
  })
