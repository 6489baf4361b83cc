import { useState } from 'react'
import { useChange } from '../../api/query.ts'
import { cliText } from '../../api/request-text.ts'
import { Button } from '../../components/button.tsx'
import { Card } from '../../components/card.tsx'
import { CopyButton } from '../../components/copy-button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { ErrorState } from '../../components/notices.tsx'
import { RelativeTime, useNow } from '../../components/relative-time.tsx'
import { SecretOnce } from '../../components/secret-once.tsx'
import { SelectField } from '../../components/select-field.tsx'
import { nameOf } from '../../delivery/destination-names.ts'
import type { Destination } from '../../delivery/use-destinations.ts'
import { useRole } from '../../session/session.tsx'
import type { DestinationProps } from './destination-api.ts'
import { callVerb, kindOf } from './destination-api.ts'
import { ReceiverCode } from './receiver-code.tsx'

const OVERLAPS = [
  ['86400', '24 hours'],
  ['604800', '7 days'],
  ['3600', '1 hour'],
  ['0', 'none: the old secret ends now'],
] as const

export function SecretCard({ projectId, destination }: DestinationProps) {
  const { can } = useRole()
  const { secret_last4, previous_secret_until: until } = destination
  const now = useNow()
  return (
    <Card title="Secret" aside={can('editor') && <Rotate projectId={projectId} destination={destination} />}>
      <p>
        Signs every delivery. It ends in <code>{secret_last4}</code>.
      </p>
      {until && Date.parse(until) > now && (
        <p className="tone-warn">
          The previous secret also signs and ends <RelativeTime at={until} />.
        </p>
      )}
    </Card>
  )
}

function Rotate({ projectId, destination }: DestinationProps) {
  const { id } = destination
  const [isOpen, setOpen] = useState(false)
  const [overlap, setOverlap] = useState('86400')
  const rotate = useChange((seconds: number) =>
    callVerb<Destination & { secret: string }>('rotate-secret', {
      projectId,
      id,
      body: { overlap_seconds: seconds },
    }),
  )
  const secret = rotate.data?.secret
  const start = () => rotate.mutate(Number(overlap), { onSuccess: () => setOpen(false) })
  return (
    <>
      <Dialog
        title={`Rotate the secret of "${nameOf(destination)}"?`}
        trigger={<Button>Rotate secret</Button>}
        isOpen={isOpen}
        onOpenChange={setOpen}
      >
        {(close) => (
          <>
            <p>Jeton makes a new secret. During the overlap every delivery carries both signatures.</p>
            <SelectField label="Overlap" value={overlap} onChange={setOverlap} choices={OVERLAPS} />
            {rotate.error && <ErrorState error={rotate.error} />}
            <div className="dialog-actions">
              <CopyButton
                look="quiet"
                label="Copy as CLI"
                text={cliText(`${kindOf(id)} rotate ${id}`, {
                  'overlap-seconds': overlap,
                  project: projectId,
                })}
              />
              <Button onPress={close}>Cancel</Button>
              <Button look="primary" isPending={rotate.isPending} onPress={start}>
                Create new secret
              </Button>
            </div>
          </>
        )}
      </Dialog>
      <SecretOnce
        title="The new secret"
        secrets={secret === undefined ? null : [['Secret', secret]]}
        onClose={() => rotate.reset()}
      >
        <ReceiverCode />
      </SecretOnce>
    </>
  )
}
