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
  return { id: body.id, token: body.token }
}

/** The text of an error without what differs from request to request. */
export const withoutRequest = ({ text, body }: Answer, ...ids: string[]): string =>
  [body.request_id, ...ids].reduce((rest, id) => rest.replaceAll(id, '…'), text)

/** Headers of a page of the console, including those that its browser adds. */
export const CONSOLE = { 'x-jeton-console': '1', 'sec-fetch-site': 'same-origin' }

/** `POST /sessions` as the console sends it. */
export const signIn = (
  url: string,
  body: object,
  headers: Readonly<Record<string, string>> = CONSOLE,
): Promise<Answer> => managerWith(url, headers)('POST', '/sessions', body)

/** The cookie that an answer sets, as a browser sends it back. */
export const cookieOf = ({ headers }: Answer): string => headers.get('set-cookie')?.split(';')[0] ?? ''

/** Signs in and returns the cookie. */
export async function newSession(url: string, { id, token }: Credential): Promise<string> {
  const answer = await signIn(url, { id, token })
  if (answer.status !== 201) throw new Error(answer.text)
  return cookieOf(answer)
}

/** Calls with a cookie, as the console does. */
export const byCookie = (
  url: string,
  cookie: string,
  headers: Readonly<Record<string, string>> = CONSOLE,
): Manage => managerWith(url, { ...headers, cookie })

/** Signs in and calls with the session. */
export const bySession = async (url: string, operator: Credential): Promise<Manage> =>
  byCookie(url, await newSession(url, operator))
