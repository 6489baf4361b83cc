import { type Answer, type ApiRequest, callApi } from './call-api.ts'
import { type Connection, type ConnectionOptions, connect } from './connection.ts'
import type { Io } from './io.ts'
import { type Catalogue, readCatalogue } from './operations.ts'
import { shellWord } from './shell-word.ts'

/** One run of a command against a server. */
export interface Session {
  readonly io: Io
  readonly connection: Connection
  readonly catalogue: Catalogue
  /** As typed with `--project`. */
  readonly project: string | undefined
  /** Flags that lead to the same server and project, for hints: ` --project Club`. */
  readonly sameFlags: string
  call(request: ApiRequest): Promise<Answer>
}

export function openSession(
  io: Io,
  options: ConnectionOptions & { readonly project?: string },
  catalogue: Catalogue = readCatalogue(),
): Session {
  const connection = connect(io, options)
  const call = (request: ApiRequest) => callApi(connection, request)
  return { io, connection, catalogue, project: options.project, sameFlags: sameFlags(options), call }
}

const sameFlags = ({ url, project }: { url?: string; project?: string }): string =>
  [url && ` --url ${shellWord(url)}`, project && ` --project ${shellWord(project)}`].filter(Boolean).join('')
