import { useQuery } from '@tanstack/react-query'
import { api, read, type Schemas } from '../../api/client.ts'
import { Button } from '../../components/button.tsx'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { plural } from '../../components/number-text.ts'

type Include = 'exhausted' | 'failing'

interface RecoverDeliveriesProps {
  readonly entry: Schemas['Attention']
  readonly projectId: string
}

/** Deliveries of the destination that failed; a dry run counts them first. */
export function RecoverDeliveries({ entry: { kind, subject }, projectId }: RecoverDeliveriesProps) {
  const include: Include[] = kind === 'destination.failing' ? ['exhausted', 'failing'] : ['exhausted']
  const recover = (dry_run: boolean) =>
    read(
      api.POST('/projects/{project_id}/deliveries/recover', {
        params: { path: { project_id: projectId } },
        body: { destination: subject.id, include, dry_run } as never,
      }),
    )
  return (
    <ConfirmDialog
      trigger={<Button>Send again</Button>}
      title={`Send failed deliveries to ${subject.name} again?`}
      consequence={<DryRun id={subject.id} include={include} count={() => recover(true)} />}
      confirmLabel="Send again"
      onConfirm={() => recover(false)}
      receipt={({ reopened, held }) => (
        <p>
          {plural(reopened, 'delivery is', 'deliveries are')} due now.
          {held > 0 && ` ${held} of them wait until the destination is enabled.`}
        </p>
      )}
    />
  )
}

interface DryRunProps {
  readonly id: string
  readonly include: readonly Include[]
  readonly count: () => Promise<Schemas['Recovery']>
}

function DryRun({ id, include, count }: DryRunProps) {
  const found = useQuery({
    queryKey: ['recover, dry run', id, include],
    queryFn: count,
    staleTime: 0,
    gcTime: 0,
  })
  if (!found.data) return <p className="dim">Counting…</p>
  return (
    <p>
      {plural(found.data.reopened, 'delivery', 'deliveries')} will be sent now, with the same id and the same
      bytes. Receivers recognise repeats by the id.
    </p>
  )
}
