import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, read } from '../api/client.ts'
import { useChange } from '../api/query.ts'
import { cliText } from '../api/request-text.ts'
import { Button } from '../components/button.tsx'
import { CopyButton } from '../components/copy-button.tsx'
import { Dialog } from '../components/dialog.tsx'
import { ErrorState, Skeleton } from '../components/notices.tsx'
import { plural } from '../components/number-text.ts'
import { SelectField } from '../components/select-field.tsx'
import { destinationNames, targetText } from './destination-names.ts'
import { LastAttempt } from './last-attempt.tsx'
import { RecoverProgress } from './recover-progress.tsx'
import { useDestinations } from './use-destinations.ts'

const PERIODS = [
  ['1h', 'the last hour'],
  ['6h', 'the last 6 hours'],
  ['24h', 'the last 24 hours'],
  ['7d', 'the last 7 days'],
  ['30d', 'the last 30 days'],
] as const
const HOURS: Readonly<Record<string, number>> = { '1h': 1, '6h': 6, '24h': 24, '7d': 168, '30d': 720 }
const INCLUDES = [
  ['exhausted', 'Exhausted: every retry is used up'],
  ['failing', 'Failing: the next retry is scheduled'],
  ['exhausted,failing', 'Both'],
] as const

interface Choice {
  readonly period: string
  readonly include: string
  readonly destination: string
}

interface RecoverDialogProps {
  readonly projectId: string
  /** Preset where the dialog is opened from a destination. */
  readonly destination?: string
  readonly include?: string
}

/** A dry run first, then the real one, then its progress. */
export function RecoverDialog({ projectId, destination = '', include = 'exhausted' }: RecoverDialogProps) {
  const [isOpen, setOpen] = useState(false)
  return (
    <Dialog
      title="Send failed deliveries again"
      trigger={<Button>Recover…</Button>}
      isOpen={isOpen}
      onOpenChange={setOpen}
      isWide
    >
      {(close) => (
        <Recovery projectId={projectId} preset={{ period: '24h', include, destination }} onClose={close} />
      )}
    </Dialog>
  )
}

const recover = (projectId: string, { period, include, destination }: Choice, isDryRun: boolean) =>
  read(
    api.POST('/projects/{project_id}/deliveries/recover', {
      params: { path: { project_id: projectId } },
      body: {
        since: new Date(Date.now() - HOURS[period]! * 3_600_000).toISOString(),
        include: include.split(',') as never,
        ...(destination && { destination }),
        dry_run: isDryRun,
      } as never,
    }),
  )

interface RecoveryProps {
  readonly projectId: string
  readonly preset: Choice
  readonly onClose: () => void
}

function Recovery({ projectId, preset, onClose }: RecoveryProps) {
  const [choice, setChoice] = useState(preset)
  const [startedAt, setStartedAt] = useState('')
  const names = destinationNames(useDestinations(projectId).data ?? [])
  const dryRun = useQuery({
    queryKey: ['dry run', projectId, choice],
    queryFn: () => recover(projectId, choice, true),
    gcTime: 0,
  })
  const run = useChange(() => recover(projectId, choice, false))
  const start = () => {
    setStartedAt(new Date().toISOString())
    run.mutate(undefined as never)
  }
  const count = dryRun.data?.reopened ?? 0
  if (run.data)
    return (
      <RecoverProgress
        projectId={projectId}
        destination={choice.destination}
        reopened={run.data.reopened}
        startedAt={startedAt}
        onClose={onClose}
      />
    )
  return (
    <>
      <div className="columns">
        <SelectField
          label="Last attempt failed in"
          value={choice.period}
          onChange={(period) => setChoice({ ...choice, period })}
          choices={PERIODS}
        />
        <SelectField
          label="Which"
          value={choice.include}
          onChange={(include) => setChoice({ ...choice, include })}
          choices={INCLUDES}
        />
        <SelectField
          label="Destination"
          value={choice.destination}
          onChange={(destination) => setChoice({ ...choice, destination })}
          choices={[['', 'All'], ...names]}
        />
      </div>
      {dryRun.error ? (
        <ErrorState error={dryRun.error} />
      ) : dryRun.data ? (
        <div className="stack tight" aria-live="polite">
          <p>
            <strong>{plural(count, 'delivery', 'deliveries')}</strong> would be due now, with the same ids and
            bytes.
          </p>
          {dryRun.data.failing_left_out > 0 && (
            <p className="row">
              {plural(dryRun.data.failing_left_out, 'more is', 'more are')} failing and would be retried by
              schedule.
              <Button look="quiet" onPress={() => setChoice({ ...choice, include: 'exhausted,failing' })}>
                Include them
              </Button>
            </p>
          )}
          {dryRun.data.sample.slice(0, 5).map((row) => (
            <p key={row.id} className="small row">
              <span className="mono">{row.id.slice(0, 14)}…</span>
              <bdi>{names.get(row.destination_id) ?? targetText(row.destination_url)}</bdi>
              <LastAttempt attempt={row.last_attempt} />
            </p>
          ))}
          {count > 5 && <p className="dim small">… and {count - 5} more.</p>}
        </div>
      ) : (
        <Skeleton lines={3} />
      )}
      {run.error && <ErrorState error={run.error} />}
      <div className="dialog-actions">
        <CopyButton
          look="quiet"
          label="Copy as CLI"
          text={cliText('delivery recover', {
            since: choice.period,
            include: choice.include,
            destination: choice.destination,
            project: projectId,
          })}
        />
        <Button onPress={onClose}>Cancel</Button>
        <Button look="primary" isDisabled={count === 0} isPending={run.isPending} onPress={start}>
          {count === 0 ? 'Nothing to send' : `Send ${plural(count, 'delivery', 'deliveries')} again`}
        </Button>
      </div>
    </>
  )
}
