import { callApi } from './call-api.ts'
import { type ConnectionOptions, connect, plainUrl } from './connection.ts'
import { wrongUsage } from './exit.ts'
import { type Io, remark } from './io.ts'
import { saveProfile, shownProfilePath } from './profile.ts'
import { resolveReference } from './resolve.ts'
import { openSession } from './session.ts'

interface LoginOptions {
  readonly url?: string
  readonly id?: string
  readonly token?: string
  readonly project?: string
}

/** Keeps a credential for the next commands, once the server has accepted it. */
export async function login(io: Io, options: LoginOptions): Promise<void> {
  const known = connect(io, options).url
  const url = plainUrl(options.url ?? ((await io.ask?.(`Server [${known}]: `)) || known))
  const id = options.id ?? (await io.ask?.('Operator id: '))
  if (!id) throw wrongUsage('--id is needed: the id of an operator, op_….')
  const token = options.token ?? (await secret(io, 'Token (not shown): '))
  const given: ConnectionOptions = { url, managementId: id, managementToken: token }
  await callApi(connect(io, given), { method: 'GET', path: '/management/v1/projects', query: { limit: '1' } })
  const project =
    options.project &&
    (await resolveReference(openSession(io, given), { noun: 'project', typed: options.project }))
  const { before } = saveProfile(
    url,
    { management_id: id, management_token: token, ...(project && { project }) },
    { env: io.env, makeDefault: true },
  )
  const instead = before !== undefined && before !== url ? ` instead of ${before}` : ''
  remark(io, `Saved in ${shownProfilePath(io.env)}. Commands now go to ${url}${instead} as ${id}.`)
}

/** Asked for without an echo, or the first line of standard input: a flag would show it to everyone on the machine. */
export async function secret(io: Io, question: string): Promise<string> {
  const given = io.ask
    ? await io.ask(question, { hidden: true })
    : (await io.readInput()).split('\n', 1)[0]!.trim()
  if (!given) throw wrongUsage('A secret is needed: give it by its flag, or on standard input.')
  return given
}
