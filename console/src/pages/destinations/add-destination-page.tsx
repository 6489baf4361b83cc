import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { api, read } from '../../api/client.ts'
import { useChange } from '../../api/query.ts'
import { cliText, curlText } from '../../api/request-text.ts'
import { Button } from '../../components/button.tsx'
import { Card } from '../../components/card.tsx'
import { CopyButton } from '../../components/copy-button.tsx'
import { TextField } from '../../components/fields.tsx'
import { EmptyState, ErrorState } from '../../components/notices.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { SecretOnce } from '../../components/secret-once.tsx'
import { SelectField } from '../../components/select-field.tsx'
import { kindText } from '../../delivery/event-kind.ts'
import { useProjectId } from '../../routing/project-route.tsx'
import { useRole } from '../../session/session.tsx'
import { ReceiverCode } from './receiver-code.tsx'
import { TargetCheck } from './target-check.tsx'
import './destinations.css'

const KIND = 'customer.reward_redemptions.completed'
const KINDS = [
  ['webhook', 'Webhook: events of the whole project'],
  ['distribution', 'Distribution: events of one loyalty campaign, with a publication'],
] as const

interface Fields {
  readonly kind: string
  readonly url: string
  readonly description: string
  readonly name: string
  readonly campaign: string
}

const EMPTY: Fields = { kind: 'webhook', url: '', description: '', name: '', campaign: '' }

interface Created {
  readonly id: string
  readonly secret: string
}

function bodyOf({ kind, url, description, name, campaign }: Fields) {
  const common = {
    target_url: url.trim(),
    events: [KIND],
    ...(name.trim() && { name: name.trim() }),
    ...(description.trim() && { description: description.trim() }),
  }
  return kind === 'webhook' ? common : { ...common, campaign_id: campaign.trim() }
}

const commandOf = (projectId: string, { kind, url, name, description, campaign }: Fields): string =>
  cliText(`${kind} create`, {
    'target-url': url.trim(),
    events: KIND,
    name: name.trim(),
    'campaign-id': kind === 'distribution' ? campaign.trim() : undefined,
    description: description.trim(),
    project: projectId,
  })

function create(projectId: string, fields: Fields): Promise<Created> {
  const path =
    fields.kind === 'webhook' ? '/projects/{project_id}/webhooks' : '/projects/{project_id}/distributions'
  return read(
    api.POST(path as never, { params: { path: { project_id: projectId } }, body: bodyOf(fields) } as never),
  ) as Promise<Created>
}

export function AddDestinationPage() {
  const projectId = useProjectId()
  const { can } = useRole()
  return (
    <>
      <PageHeader
        title="Add a destination"
        subtitle="Jeton sends each event there, signed, until it is accepted."
      />
      {can('editor') ? (
        <AddForm projectId={projectId} />
      ) : (
        <EmptyState sentence="Your role may only read. Ask an editor or an admin to add a destination." />
      )}
    </>
  )
}

function AddForm({ projectId }: { projectId: string }) {
  const navigate = useNavigate()
  const [fields, setFields] = useState(EMPTY)
  const set = (name: keyof Fields) => (value: string) => setFields({ ...fields, [name]: value })
  const creation = useChange((given: Fields) => create(projectId, given))
  const made = creation.data
  const close = () => {
    const params = { projectId, destinationId: made!.id }
    creation.reset()
    void navigate({ to: '/projects/$projectId/destinations/$destinationId', params })
  }
  return (
    <>
      <form
        className="stack narrow-form"
        onSubmit={(event) => {
          event.preventDefault()
          creation.mutate(fields)
        }}
      >
        <Card title="1  Address">
          <div className="stack tight">
            <TextField
              label="URL"
              value={fields.url}
              onChange={set('url')}
              type="url"
              placeholder="https://hooks.example.com/jeton"
              isMono
              isRequired
              autoFocus
            />
            <TargetCheck projectId={projectId} url={fields.url} />
          </div>
        </Card>
        <Card title="2  Events">
          <div className="stack">
            <SelectField label="Which" value={fields.kind} onChange={set('kind')} choices={KINDS} />
            <div className="checks">
              <label>
                <input type="checkbox" checked readOnly disabled /> {kindText(KIND)}
              </label>
            </div>
            {fields.kind === 'distribution' && (
              <TextField
                label="Id of the campaign"
                value={fields.campaign}
                onChange={set('campaign')}
                hint="jeton campaign list shows the ids."
                isMono
                isRequired
              />
            )}
            <TextField
              label="Name"
              value={fields.name}
              onChange={set('name')}
              {...(fields.kind === 'distribution'
                ? { isRequired: true }
                : { hint: 'Optional. Without one, its address is shown.' })}
            />
            <TextField
              label="Description"
              value={fields.description}
              onChange={set('description')}
              hint="For people. Optional."
            />
          </div>
        </Card>
        {creation.error && <ErrorState error={creation.error} />}
        <div className="row">
          <Button
            type="submit"
            look="primary"
            isPending={creation.isPending}
            isDisabled={fields.url.trim() === ''}
          >
            Create and show the secret
          </Button>
          <CopyButton look="quiet" label="Copy as CLI" text={commandOf(projectId, fields)} />
          <CopyButton
            look="quiet"
            label="Copy as curl"
            text={curlText({
              method: 'POST',
              path: `/projects/${projectId}/${fields.kind}s`,
              body: bodyOf(fields),
            })}
          />
        </div>
      </form>
      <SecretOnce title="3  Its secret" secrets={made ? [['Secret', made.secret]] : null} onClose={close}>
        <p>
          Your receiver checks signatures with it, as WEBHOOK_SECRET. Afterwards, send a test from the page of
          the destination.
        </p>
        <ReceiverCode />
      </SecretOnce>
    </>
  )
}
