import { api, read, type Schemas } from '../../api/client.ts'
import { useApi } from '../../api/query.ts'
import { Button } from '../../components/button.tsx'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { plural } from '../../components/number-text.ts'

interface EnableDestinationProps {
  readonly entry: Schemas['Attention']
  readonly projectId: string
}

/** Enables a destination, which also sends everything that was held for it. */
export function EnableDestination({ entry: { subject }, projectId }: EnableDestinationProps) {
  const isWebhook = subject.type === 'webhook'
  const project_id = projectId
  const webhook = useApi(
    '/projects/{project_id}/webhooks/{webhook_id}',
    { path: { project_id, webhook_id: subject.id } },
    { enabled: isWebhook },
  )
  const distribution = useApi(
    '/projects/{project_id}/distributions/{distribution_id}',
    { path: { project_id, distribution_id: subject.id } },
    { enabled: !isWebhook },
  )
  const held = (isWebhook ? webhook : distribution).data?.health.held
  const enable = (): Promise<unknown> =>
    isWebhook
      ? read(
          api.POST('/projects/{project_id}/webhooks/{webhook_id}/enable', {
            params: { path: { project_id, webhook_id: subject.id } },
          }),
        )
      : read(
          api.POST('/projects/{project_id}/distributions/{distribution_id}/enable', {
            params: { path: { project_id, distribution_id: subject.id } },
          }),
        )
  return (
    <ConfirmDialog
      trigger={<Button look="primary">{held ? `Enable and send ${held}` : 'Enable'}</Button>}
      title={`Enable ${subject.name}?`}
      consequence={
        <p>
          {held === undefined ? 'Everything that is held' : plural(held, 'held delivery', 'held deliveries')}{' '}
          will be sent now. If the receiver still fails, each is retried for 24 hours.
        </p>
      }
      confirmLabel={held ? `Enable and send ${held}` : 'Enable'}
      onConfirm={enable}
      receipt={() => (
        <p>Enabled. {held ? `${plural(held, 'delivery is', 'deliveries are')} due now.` : ''}</p>
      )}
    />
  )
}
