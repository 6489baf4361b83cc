import type { Answer } from './call-api.ts'
import type { Connection } from './connection.ts'
import { CommandFailure, EXIT } from './exit.ts'
import { type Io, remark } from './io.ts'
import { secret } from './login.ts'
import { saveAppToken, shownProfilePath } from './profile.ts'

export interface KeyPairOptions {
  readonly appId?: string
  readonly appToken?: string
}

interface KeyPair {
  /** Where API clients call, which may be another port than the operators'. */
  readonly url: string
  readonly credential: Record<string, string>
}

/** The key pair to call as a client with: from the flags, else from the profile, else asked for. */
export async function keyPair(io: Io, connection: Connection, options: KeyPairOptions): Promise<KeyPair> {
  const kept = connection.app
  const appId = options.appId ?? kept?.id ?? (await io.ask?.('App id: '))
  if (!appId)
    throw new CommandFailure(
      `No API key for ${connection.url}. Give one: --app-id … (its secret is asked for).\nSee: jeton key list --json`,
      EXIT.credentials,
    )
  const ofProfile = kept?.id === appId ? kept : undefined
  const appToken = options.appToken ?? ofProfile?.token ?? (await secret(io, 'App token (not shown): '))
  return { url: ofProfile?.url ?? connection.url, credential: { 'x-app-id': appId, 'x-app-token': appToken } }
}

/** A new secret of the key that the profile keeps replaces the old one there, or the next command would fail. */
export function keepNewSecret(io: Io, { url, app }: Connection, { json }: Answer): void {
  const { app_id, app_token } = (json ?? {}) as { app_id?: string; app_token?: string }
  if (app_token === undefined || app_id === undefined || app_id !== app?.id) return
  saveAppToken(url, app_token, io.env)
  remark(io, `Kept in ${shownProfilePath(io.env)} as well.`)
}
