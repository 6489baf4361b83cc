import { useNavigate } from '@tanstack/react-router'
import { Button } from '../../components/button.tsx'
import { ConfirmDialog } from '../../components/confirm-dialog.tsx'
import { plural } from '../../components/number-text.ts'
import { nameOf } from '../../delivery/destination-names.ts'
import type { Destination } from '../../delivery/use-destinations.ts'
import type { DestinationProps } from './destination-api.ts'
import { callVerb, deleteDestination } from './destination-api.ts'

export const DestinationActions = (props: DestinationProps) => (
  <>
    {props.destination.active ? <Disable {...props} /> : <Enable {...props} />}
    <Delete {...props} />
  </>
)

function Enable({ projectId, destination }: DestinationProps) {
  const { id, health } = destination
  const held = plural(health.held, 'held delivery', 'held deliveries')
  return (
    <ConfirmDialog
      trigger={
        <Button look="primary">{health.held > 0 ? `Enable and send ${health.held}` : 'Enable'}</Button>
      }
      title={`Enable ${nameOf(destination)}?`}
      consequence={
        <p>
          {health.held > 0
            ? `${held} will be sent now, and new events again.`
            : 'New events are sent to it again.'}
        </p>
      }
      confirmLabel="Enable"
      onConfirm={() => callVerb<Destination>('enable', { projectId, id })}
      receipt={() => (
        <p>Enabled. {health.held > 0 && `${held} ${health.held === 1 ? 'is' : 'are'} being sent.`}</p>
      )}
    />
  )
}

const Disable = ({ projectId, destination }: DestinationProps) => (
  <ConfirmDialog
    trigger={<Button>Disable</Button>}
    title={`Disable ${nameOf(destination)}?`}
    consequence={
      <p>Nothing more is sent to it. New deliveries are held and sent when you enable it again.</p>
    }
    confirmLabel="Disable"
    onConfirm={() => callVerb<Destination>('disable', { projectId, id: destination.id })}
  />
)

function Delete({ projectId, destination }: DestinationProps) {
  const { id, health } = destination
  const navigate = useNavigate()
  const waiting = health.pending + health.held
  return (
    <ConfirmDialog
      trigger={<Button look="danger">Delete</Button>}
      title={`Delete ${nameOf(destination)}?`}
      consequence={
        <>
          <p>Sending stops at once, and its secret is gone.</p>
          {waiting > 0 && (
            <p>{plural(waiting, 'delivery is', 'deliveries are')} cancelled and cannot be sent later.</p>
          )}
        </>
      }
      confirmLabel="Delete"
      isDangerous
      onConfirm={async () => {
        await deleteDestination(projectId, id)
        await navigate({ to: '/projects/$projectId/destinations', params: { projectId } })
      }}
    />
  )
}
