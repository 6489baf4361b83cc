import { useEffect, useState } from 'react'
import { api, read, type Schemas } from '../../api/client.ts'
import { useChange } from '../../api/query.ts'
import { Button } from '../../components/button.tsx'
import { Card } from '../../components/card.tsx'
import { TextField } from '../../components/fields.tsx'
import { ErrorState } from '../../components/notices.tsx'
import { showReceipt } from '../../components/receipt-dialog.tsx'
import { useSearchParams } from '../../routing/search-params.ts'
import { AddressEditor, entriesOf } from './address-editor.tsx'
import { PermissionPicker } from './permission-picker.tsx'
import { Propagation, WAIT_MS } from './propagation.tsx'

type ApiKey = Schemas['ApiKey']

const sameSet = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((one) => b.includes(one))

const idOf = (place: string): string => `change-${place}`

/** Puts the focus where a link says that something is to be changed. */
function useFocus(place: string | undefined): void {
  useEffect(() => {
    const section = place && document.getElementById(idOf(place))
    if (!section) return
    section.querySelector<HTMLElement>('input, textarea, summary')?.focus({ preventScroll: true })
    section.scrollIntoView({ block: 'center' })
  }, [place])
}

/** Name, limit, addresses and permissions. They apply to active tokens too. */
export function KeySettings({ apiKey }: { apiKey: ApiKey }) {
  const [{ change, add }, setSearch] = useSearchParams()
  const offered = (place: string, given: readonly string[]): string[] =>
    change === place && add ? [...new Set([...given, add])] : [...given]
  const [name, setName] = useState(apiKey.name)
  const [limit, setLimit] = useState(apiKey.token_limit?.toString() ?? '')
  const [addresses, setAddresses] = useState(offered('addresses', apiKey.ip_whitelist).join('\n'))
  const [permissions, setPermissions] = useState(offered('permissions', apiKey.permissions))
  useFocus(change)
  const path = { project_id: apiKey.project_id, key_id: apiKey.id }
  const save = useChange((body: object) =>
    read(
      api.PATCH('/projects/{project_id}/api-keys/{key_id}', {
        params: { path, query: { wait_ms: WAIT_MS } },
        body: body as never,
      }),
    ),
  )
  const wanted = {
    ...(name.trim() !== apiKey.name && { name: name.trim() }),
    ...(limit !== (apiKey.token_limit?.toString() ?? '') && {
      token_limit: limit === '' ? null : Number(limit),
    }),
    ...(!sameSet(entriesOf(addresses), apiKey.ip_whitelist) && { ip_whitelist: entriesOf(addresses) }),
    ...(!sameSet(permissions, apiKey.permissions) && { permissions }),
  }
  const isChanged = Object.keys(wanted).length > 0
  const start = () =>
    save.mutate(wanted, {
      onSuccess: ({ propagation }) => {
        setSearch({ change: undefined, add: undefined })
        showReceipt({
          title: `Changed "${apiKey.name}"`,
          content: <Propagation done="Applied" propagation={propagation} />,
        })
      },
    })
  return (
    <Card title="Change">
      <div className="stack">
        <div className="columns">
          <div className="stack">
            <TextField label="Name" value={name} onChange={setName} />
            <div id={idOf('limit')}>
              <TextField
                label="Limit of active tokens"
                type="number"
                value={limit}
                onChange={setLimit}
                hint="Empty: only the limit of the project counts."
              />
            </div>
          </div>
          <div id={idOf('addresses')}>
            <AddressEditor text={addresses} onChange={setAddresses} keyId={apiKey.id} />
          </div>
        </div>
        <details id={idOf('permissions')} open={change === 'permissions'}>
          <summary>Permissions: {permissions.join(', ') || 'none'}</summary>
          <PermissionPicker chosen={permissions} onChange={setPermissions} />
        </details>
        {save.error && <ErrorState error={save.error} />}
        <div className="dialog-actions">
          <Button look="primary" isDisabled={!isChanged} isPending={save.isPending} onPress={start}>
            Save changes
          </Button>
        </div>
      </div>
    </Card>
  )
}
