import type { Management } from '../generated/management.ts'
import { PROJECT_OPERATIONS, SERVICE_OPERATIONS } from '../generated/operations.ts'
import type { Fetch } from '../send-request.ts'
import { clientOf } from './call-operation.ts'

export { JetonError, JetonUnavailable } from '../errors.ts'
export type * from '../generated/management.ts'
export type { List, Page, PageOptions } from './list.ts'
export { Secret } from './secret.ts'

export interface ManagementOptions {
  readonly baseUrl: string | URL
  /** Id and token of an operator. */
  readonly id: string
  readonly token: string
  /** Limit for one request. Default: 30,000, because some operations wait for other processes. */
  readonly timeoutMs?: number
  readonly fetch?: Fetch
}

/** Client of the management API. Every operation of the API reference is a method. */
export function createManagement({ timeoutMs = 30_000, ...options }: ManagementOptions): Management {
  const connection = { ...options, timeoutMs }
  return {
    ...clientOf(connection, '', SERVICE_OPERATIONS),
    project(projectId: string) {
      if (!projectId) throw new TypeError('projectId is required.')
      return clientOf(connection, `/projects/${encodeURIComponent(projectId)}`, PROJECT_OPERATIONS)
    },
  } as Management
}
