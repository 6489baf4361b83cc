import { type ReactNode, useState } from 'react'
import { useChange } from '../../api/query.ts'
import { Button } from '../../components/button.tsx'
import { Card } from '../../components/card.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { TextField } from '../../components/fields.tsx'
import { ErrorState } from '../../components/notices.tsx'
import { RelativeTime } from '../../components/relative-time.tsx'
import { kindText } from '../../delivery/event-kind.ts'
import { useRole } from '../../session/session.tsx'
import type { DestinationProps } from './destination-api.ts'
import { updateDestination } from './destination-api.ts'
import { TargetCheck } from './target-check.tsx'

export function DestinationSettings({ projectId, destination }: DestinationProps) {
  const { can } = useRole()
  const { target_url, events, description, created_at, updated_at } = destination
  const own = destination.object === 'distribution' ? destination : undefined
  return (
    <Card title="Settings" aside={can('editor') && <Edit projectId={projectId} destination={destination} />}>
      <dl className="facts">
        <Fact name="Address">
          <bdi className="mono">{target_url}</bdi>
        </Fact>
        <Fact name="Name">
          {destination.name ? <bdi>{destination.name}</bdi> : <span className="dim">none</span>}
        </Fact>
        {own && (
          <>
            <Fact name="Campaign">
              <span className="mono">{own.campaign_id}</span>
            </Fact>
            <Fact name="Headers">{Object.keys(own.headers).join(', ') || 'none of its own'}</Fact>
          </>
        )}
        <Fact name="Events">
          <span title={events.join('\n')}>{[...new Set(events.map(kindText))].join(', ')}</span>
        </Fact>
        <Fact name="Description">
          {description ? <bdi>{description}</bdi> : <span className="dim">none</span>}
        </Fact>
        <Fact name="Created">
          <RelativeTime at={created_at} />
        </Fact>
        <Fact name="Changed">
          <RelativeTime at={updated_at} />
        </Fact>
      </dl>
    </Card>
  )
}

const Fact = ({ name, children }: { name: string; children: ReactNode }) => (
  <div>
    <dt>{name}</dt>
    <dd>{children}</dd>
  </div>
)

function Edit({ projectId, destination }: DestinationProps) {
  const [isOpen, setOpen] = useState(false)
  return (
    <Dialog
      title="Change the destination"
      trigger={<Button>Change…</Button>}
      isOpen={isOpen}
      onOpenChange={setOpen}
      isWide
    >
      {(close) => <EditForm projectId={projectId} destination={destination} onClose={close} />}
    </Dialog>
  )
}

function EditForm({ projectId, destination, onClose }: DestinationProps & { onClose: () => void }) {
  const [url, setUrl] = useState(destination.target_url)
  const [name, setName] = useState(destination.name ?? '')
  const [description, setDescription] = useState(destination.description ?? '')
  const change = useChange((body: object) => updateDestination(projectId, destination.id, body))
  const isDistribution = destination.object === 'distribution'
  const fields = {
    target_url: url.trim(),
    name: isDistribution ? name.trim() : name.trim() || null,
    description: description.trim() || null,
  }
  const save = () => change.mutate(fields, { onSuccess: onClose })
  return (
    <form
      className="stack"
      onSubmit={(event) => {
        event.preventDefault()
        save()
      }}
    >
      <TextField label="Address" value={url} onChange={setUrl} type="url" isMono />
      <TargetCheck projectId={projectId} url={url} />
      <TextField label="Name" value={name} onChange={setName} isRequired={isDistribution} />
      <TextField label="Description" value={description} onChange={setDescription} />
      {change.error && <ErrorState error={change.error} />}
      <div className="dialog-actions">
        <Button onPress={onClose}>Cancel</Button>
        <Button look="primary" type="submit" isPending={change.isPending}>
          Save
        </Button>
      </div>
    </form>
  )
}
