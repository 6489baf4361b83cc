import { api, read } from '../../api/client.ts'
import { useChange } from '../../api/query.ts'
import { Button } from '../../components/button.tsx'
import { plural } from '../../components/number-text.ts'

interface RetryManyProps {
  readonly projectId: string
  readonly ids: readonly string[]
  readonly onDone: () => void
}

/** Sends the selected deliveries again. Sending twice is harmless, since receivers know the id, so it does not ask. */
export function RetryMany({ projectId, ids, onDone }: RetryManyProps) {
  const retry = useChange((chosen: readonly string[]) =>
    read(
      api.POST('/projects/{project_id}/deliveries/recover', {
        params: { path: { project_id: projectId } },
        body: { ids: [...chosen] } as never,
      }),
    ),
  )
  const start = () => retry.mutate(ids, { onSuccess: onDone })
  return (
    <>
      <span role="status" className="small">
        {retry.error && <span className="tone-bad">{retry.error.message}</span>}
        {retry.data && receipt(retry.data)}
      </span>
      <Button
        {...(ids.length > 0 && { look: 'primary' as const })}
        isDisabled={ids.length === 0}
        isPending={retry.isPending}
        onPress={start}
      >
        {ids.length === 0 ? 'Retry selected' : `Retry ${plural(ids.length, 'delivery', 'deliveries')}`}
      </Button>
    </>
  )
}

const receipt = ({ reopened, skipped }: { reopened: number; skipped: number }): string =>
  `${plural(reopened, 'delivery is', 'deliveries are')} due now${skipped > 0 ? `, ${skipped} were due already or have changed` : ''}.`
