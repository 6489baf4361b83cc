import { Link } from '@tanstack/react-router'
import type { Schemas } from '../../api/client.ts'
import { CopyButton } from '../../components/copy-button.tsx'
import { useRole } from '../../session/session.tsx'
import { EnableDestination } from './enable-destination.tsx'
import { LimitLargest } from './limit-largest.tsx'
import { RecoverDeliveries } from './recover-deliveries.tsx'

type Entry = Schemas['Attention']

/** Where to look and what to do there, for problems that need a decision. */
const PLACES: readonly (readonly [RegExp, string, string])[] = [
  [/^tokens\./, '/projects/$projectId/tokens', 'See who holds them'],
  [/^refusals\./, '/projects/$projectId/access', 'See why'],
  [/^destination\.|^deliveries\./, '/projects/$projectId/deliveries', 'Open deliveries'],
]

/** One action per problem: the cure where one click does it, else the page or the setting for it. */
export function AttentionAction({ entry }: { entry: Entry }) {
  const { can, seesService } = useRole()
  const { kind, subject, fix } = entry
  const projectId = subject.project_id
  if (projectId && can('editor')) {
    if (kind === 'destination.disabled') return <EnableDestination entry={entry} projectId={projectId} />
    if (kind === 'destination.failing' || kind === 'deliveries.exhausted')
      return <RecoverDeliveries entry={entry} projectId={projectId} />
    if (kind.startsWith('tokens.')) return <LimitLargest projectId={projectId} />
  }
  if (projectId && subject.type === 'api_key')
    return (
      <Link
        className="button"
        to="/projects/$projectId/api-keys/$keyId"
        params={{ projectId, keyId: subject.id }}
      >
        Open key
      </Link>
    )
  const place = PLACES.find(([pattern]) => pattern.test(kind))
  if (place && projectId)
    return (
      <Link className="button" to={place[1]} params={{ projectId } as never}>
        {place[2]}
      </Link>
    )
  if (kind.startsWith('process.') && seesService)
    return (
      <Link className="button" to="/system">
        Open system
      </Link>
    )
  return (
    <CopyButton
      text={fix.command}
      label={fix.command.startsWith('JETON_') ? 'Copy setting' : 'Copy command'}
    />
  )
}
