import type { Role } from '../src/contract/roles.ts'
import { type Answer, type Client, send } from './service.ts'

export interface Credential {
  readonly id: string
  readonly token: string
}

/** Sends a request below `/management/v1` with one kind of credential. */
export type Manage = (method: string, path: string, body?: unknown) => Promise<Answer>

/** A request with these headers. */
export const managerWith =
  (url: string, headers: Readonly<Record<string, string>>): Manage =>
  (method, path, body) =>
    send(`${url}/management/v1${path}`, {
      method,
      headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })

export const pairOf = ({ id, token }: Credential) => ({ 'x-management-id': id, 'x-management-token': token })

/** Calls with the header pair of an operator. */
export const byPair = (url: string, operator: Credential): Manage => managerWith(url, pairOf(operator))

export async function newOperator(
  client: Client,
  role: Role,
  projects: readonly string[] | null = null,
): Promise<Credential> {
  const { status, body, text } = await client.manage('POST', '/operators', { name: role, role, projects })
  if (status !== 201) throw new Error(text)
  return body
}

/** The text of an error without what differs from request to request. */
export const withoutRequest = ({ text, body }: Answer, ...ids: string[]): string =>
  [body.request_id, ...ids].reduce((rest, id) => rest.replaceAll(id, '…'), text)
