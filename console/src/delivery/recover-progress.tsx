import { useQuery } from '@tanstack/react-query'
import { api, read } from '../api/client.ts'
import { Button } from '../components/button.tsx'
import { countText, plural } from '../components/number-text.ts'
import { useDestinations } from './use-destinations.ts'

const POLL_MS = 1_000

interface RecoverProgressProps {
  readonly projectId: string
  /** Empty for all. */
  readonly destination: string
  readonly reopened: number
  /** When the recovery started, ISO 8601. */
  readonly startedAt: string
  readonly onClose: () => void
}

/** Deliveries that failed since then: a recovery of them would be counted by its dry run. */
const failedSince = (projectId: string, since: string, destination: string) =>
  read(
    api.POST('/projects/{project_id}/deliveries/recover', {
      params: { path: { project_id: projectId } },
      body: {
        since,
        include: ['exhausted', 'failing'],
        ...(destination && { destination }),
        dry_run: true,
      } as never,
    }),
  )

/** Follows deliveries that were sent again, until none of them is due any more. */
export function RecoverProgress({
  projectId,
  destination,
  reopened,
  startedAt,
  onClose,
}: RecoverProgressProps) {
  const failed = useQuery({
    queryKey: ['failed since', projectId, startedAt, destination],
    queryFn: () => failedSince(projectId, startedAt, destination),
    refetchInterval: POLL_MS,
  })
  const destinations = useDestinations(projectId, POLL_MS).data
  const wanted = destinations?.filter(({ id }) => destination === '' || id === destination)
  const isDue = wanted === undefined || wanted.some(({ health }) => health.oldest_due_at !== null)
  const again = Math.min(reopened, failed.data?.reopened ?? 0)
  return (
    <>
      <div className={isDue ? 'stack tight' : 'stack tight receipt'} role="status">
        <p>
          <strong>{plural(reopened, 'delivery', 'deliveries')}</strong> {reopened === 1 ? 'was' : 'were'} made
          due.
        </p>
        {isDue ? (
          <>
            <progress className="progress" aria-label="Sending" />
            <p className="dim">Sending. {again > 0 && `${countText(again)} failed again so far.`}</p>
          </>
        ) : (
          <p>
            {countText(reopened - again)} delivered, {countText(again)} failed again
            {again > 0 ? ' and follow their retry schedule.' : '.'}
          </p>
        )}
      </div>
      <div className="dialog-actions">
        <Button onPress={onClose}>Close</Button>
      </div>
    </>
  )
}
