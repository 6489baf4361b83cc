import { useEffect, useState } from 'react'
import { api, read, type Schemas } from '../../api/client.ts'
import { Button } from '../../components/button.tsx'
import { TextField } from '../../components/fields.tsx'
import { plural } from '../../components/number-text.ts'
import { useProjectId } from '../../routing/project-route.tsx'
import { useSession } from '../../session/session.tsx'

const TYPING_MS = 300

/** Entries of a text: one per line, or separated by commas or spaces. */
export const entriesOf = (text: string): string[] => text.split(/[\s,]+/).filter(Boolean)

interface AddressEditorProps {
  readonly text: string
  readonly onChange: (text: string) => void
  /** An existing key, whose recent clients are checked against the list. */
  readonly keyId?: string
}

/** Checks the list as it is typed: the server knows the rules and the addresses of the last 24 hours. */
function useAddressCheck(text: string, keyId: string | undefined) {
  const project_id = useProjectId()
  const [found, setFound] = useState<Schemas['AddressCheck']>()
  useEffect(() => {
    const abort = new AbortController()
    const body = { ip_whitelist: entriesOf(text), ...(keyId && { key: keyId }) }
    const timer = setTimeout(
      () =>
        read(
          api.POST('/projects/{project_id}/api-keys/check-addresses', {
            params: { path: { project_id } },
            body,
            signal: abort.signal,
          }),
        ).then(setFound, () => undefined),
      TYPING_MS,
    )
    return () => {
      clearTimeout(timer)
      abort.abort()
    }
  }, [text, keyId, project_id])
  return found
}

export function AddressEditor({ text, onChange, keyId }: AddressEditorProps) {
  const { address } = useSession()
  const check = useAddressCheck(text, keyId)
  const mistake = check?.mistakes[0]
  const entries = entriesOf(text)
  return (
    <div className="stack tight">
      <TextField
        label="Allowed addresses"
        value={text}
        onChange={onChange}
        rows={4}
        isMono
        placeholder={'10.0.0.0/8\n2001:db8::/32'}
        error={mistake && `${mistake.entry} ${mistake.says}`}
        hint="Addresses and ranges, one per line. An empty list allows every address."
      />
      {address && !entries.includes(address) && (
        <div>
          <Button onPress={() => onChange([...entries, address].join('\n'))}>Add mine ({address})</Button>
        </div>
      )}
      {entries.length === 0 && <p className="tone-warn">This key can be used from any address.</p>}
      {check && check.refused.length > 0 && (
        <p className="tone-bad">
          Would refuse {check.refused.length} of {check.refused.length + check.allowed.length} addresses of
          the last 24 h: <span className="mono">{check.refused.map((use) => use.address).join(', ')}</span>
        </p>
      )}
      {check && check.refused.length === 0 && check.allowed.length > 0 && (
        <p className="dim">
          Allows {plural(check.allowed.length, 'address', 'addresses')} of the last 24 h, and refuses none.
        </p>
      )}
    </div>
  )
}
