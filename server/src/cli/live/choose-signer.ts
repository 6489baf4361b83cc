import { TEST_EVENT } from '../../contract/event-kinds.ts'
import { ID_PREFIX, WEBHOOK_SECRET_PREFIX } from '../../contract/ids.ts'
import { newSigningSecret, randomBytes } from '../../platform/secrets.ts'
import { plain } from '../cells.ts'
import type { List, Resource } from '../pages.ts'
import { resolveReference } from '../resolve.ts'
import type { Session } from '../session.ts'
import type { EventHead } from './event-feed.ts'

/** Whose place the receiver on this machine takes. */
export interface Signer {
  /** One sentence for the person who listens. */
  readonly says: string
  /** What the server is asked with. */
  readonly asked: Readonly<Record<string, string>>
  /** Whether the one whose place it takes would get the event. */
  wants(event: EventHead): boolean
}

interface Choosing {
  readonly projectId: string
  /** As typed with `--as`. */
  readonly as?: string | undefined
  readonly secret?: string | undefined
  readonly targetUrl: string
}

/** Named, else the newest webhook that is active, else any destination, else a secret for this run. */
export async function chooseSigner(session: Session, choosing: Choosing): Promise<Signer> {
  if (choosing.secret !== undefined) return withSecret(choosing, choosing.secret, 'Signing with your secret.')
  if (choosing.as !== undefined) return signerOf(await named(session, choosing.projectId, choosing.as))
  const found = await firstDestination(session, choosing.projectId)
  if (found) return signerOf(found)
  const secret = newSigningSecret(randomBytes, WEBHOOK_SECRET_PREFIX)
  return withSecret(
    choosing,
    secret,
    `There is no webhook yet, so a secret was made for this run: ${secret} (keep it with --secret).`,
  )
}

const withSecret = ({ targetUrl }: Choosing, secret: string, says: string): Signer => ({
  says,
  asked: { secret, target_url: targetUrl },
  wants: ({ kind }) => kind !== TEST_EVENT,
})

function signerOf(destination: Resource): Signer {
  const id = String(destination.id)
  const name = destination.name ?? destination.description
  const shown = name ? `${id} ${JSON.stringify(plain(String(name)))}` : id
  const headers = Object.keys((destination.headers as object | undefined) ?? {})
  const without = headers.length > 0 ? ` Its own headers (${headers.join(', ')}) are left out.` : ''
  const events = destination.events as readonly string[]
  return {
    says: `Signing with the secret of ${shown} (choose with --as).${without}`,
    asked: { destination: id },
    // A test is about the destination that it is for.
    wants: ({ kind, entity_id, campaign_id }) =>
      kind === TEST_EVENT
        ? entity_id === id
        : events.includes(kind) && (destination.campaign_id ?? campaign_id) === campaign_id,
  }
}

async function named(session: Session, projectId: string, typed: string): Promise<Resource> {
  const noun = typed.startsWith(ID_PREFIX.webhook) ? 'webhook' : 'distribution'
  const id = await resolveReference(session, { noun, typed, projectId })
  const path = `/management/v1/projects/${projectId}/${noun}s/${encodeURIComponent(id)}`
  return (await session.call({ method: 'GET', path })).json as Resource
}

async function firstDestination(session: Session, projectId: string): Promise<Resource | undefined> {
  for (const noun of ['webhooks', 'distributions']) {
    const path = `/management/v1/projects/${projectId}/${noun}`
    const { data } = (await session.call({ method: 'GET', path, query: { limit: '100' } })).json as List
    const chosen = data.find(({ active }) => active) ?? data[0]
    if (chosen) return chosen
  }
  return undefined
}
