import { Navigate, useParams } from '@tanstack/react-router'
import { useApi } from '../../api/query.ts'
import { Loaded } from '../../components/loaded.tsx'

/** A delivery is shown on the page of its event, between the deliveries to other destinations. */
export function DeliveryPage() {
  const { projectId, deliveryId } = useParams({ from: '/projects/$projectId/deliveries/$deliveryId' })
  const path = { project_id: projectId, delivery_id: deliveryId }
  const delivery = useApi('/projects/{project_id}/deliveries/{delivery_id}', { path })
  return (
    <Loaded query={delivery}>
      {({ event_id }) => (
        <Navigate
          to="/projects/$projectId/events/$eventId"
          params={{ projectId, eventId: event_id }}
          search={{ delivery: deliveryId }}
          replace
        />
      )}
    </Loaded>
  )
}
