import { useMutation, useQuery } from '@tanstack/react-query'
import { type SyntheticEvent, useEffect, useState } from 'react'
import { api, read, type Schemas } from '../../api/client.ts'
import { useKeys } from '../../api/key-names.ts'
import { useApi } from '../../api/query.ts'
import { Button } from '../../components/button.tsx'
import { Card } from '../../components/card.tsx'
import { TextField } from '../../components/fields.tsx'
import { ErrorState, Skeleton } from '../../components/notices.tsx'
import { SelectField } from '../../components/select-field.tsx'
import { useProjectId } from '../../routing/project-route.tsx'
import { useSearchParams } from '../../routing/search-params.ts'
import { useSession } from '../../session/session.tsx'
import { Verdict } from './verdict.tsx'

interface Question {
  readonly app_id?: string
  readonly access_token?: string
  readonly path: string
  readonly address?: string
}

const check = (body: Question) => read(api.POST('/access-checks', { body }))

/** Chosen in place of a key. */
const TOKEN = 'token'

/** The key of the URL, checked with the path and the address of the URL. */
function useUrlCheck(keyId: string | undefined, path: string | undefined, address: string | undefined) {
  const project_id = useProjectId()
  const key = useApi(
    '/projects/{project_id}/api-keys/{key_id}',
    { path: { project_id, key_id: keyId ?? '' } },
    { enabled: keyId !== undefined },
  )
  const question = { app_id: key.data?.app_id ?? '', path: path ?? '', ...(address && { address }) }
  const answer = useQuery({
    queryKey: ['/access-checks', question],
    queryFn: () => check(question),
    enabled: key.data !== undefined && path !== undefined,
  })
  return { apiKey: key, answer, address, isAsked: keyId !== undefined && path !== undefined }
}

/** Key, path and address are in the URL, so that a check can be shared. A token goes into a body and nowhere else. */
export function CheckForm() {
  const project_id = useProjectId()
  const { address: own } = useSession()
  const [search, change] = useSearchParams()
  const keys = useKeys(project_id)
  const [holder, setHolder] = useState(search.key ?? '')
  const [token, setToken] = useState('')
  const [path, setPath] = useState(search.path ?? '')
  const [address, setAddress] = useState(search.address ?? '')
  const tokenCheck = useMutation({ mutationFn: check, networkMode: 'always' })
  const urlCheck = useUrlCheck(search.key, search.path, search.address)
  const isToken = holder === TOKEN
  // A link may lead to another check while the form is shown.
  useEffect(() => {
    if (search.key) setHolder(search.key)
    setPath(search.path ?? '')
    setAddress(search.address ?? '')
  }, [search.key, search.path, search.address])
  const choices = keys.data?.data.map(({ id, name, state }) => {
    const text = state === 'active' ? name : `${name} (${state})`
    return [id, text] as const
  })

  function submit(event: SyntheticEvent) {
    event.preventDefault()
    const [called, from] = [path.trim(), address.trim()]
    change({
      key: isToken ? undefined : holder,
      path: called,
      address: from || undefined,
      request: undefined,
    })
    if (isToken)
      tokenCheck.mutate({ access_token: token.trim(), path: called, ...(from !== '' && { address: from }) })
  }

  return (
    <Card title="Check a call">
      <form onSubmit={submit} className="check-form">
        <SelectField
          label="Credential"
          value={holder}
          onChange={setHolder}
          choices={[['', 'Choose a key'], [TOKEN, 'An access token'], ...(choices ?? [])]}
        />
        {isToken && (
          <TextField
            label="Access token"
            type="password"
            value={token}
            onChange={setToken}
            placeholder="jtn_…"
            autoComplete="off"
            isMono
            isRequired
          />
        )}
        <TextField label="Path" value={path} onChange={setPath} placeholder="/v1/rewards" isMono isRequired />
        <TextField label="Client address" value={address} onChange={setAddress} placeholder="any" isMono />
        <div className="row">
          <Button
            type="submit"
            look="primary"
            isDisabled={holder === '' || path.trim() === ''}
            isPending={tokenCheck.isPending}
          >
            Check
          </Button>
          {own && address !== own && (
            <Button look="quiet" onPress={() => setAddress(own)}>
              From my address
            </Button>
          )}
        </div>
      </form>
      {isToken ? (
        <TokenAnswer error={tokenCheck.error} answer={tokenCheck.data} />
      ) : (
        urlCheck.isAsked && <KeyAnswer {...urlCheck} />
      )}
    </Card>
  )
}

type Answer = Schemas['AccessCheck'] | undefined

const TokenAnswer = ({ error, answer }: { error: unknown; answer: Answer }) =>
  error ? <ErrorState error={error} /> : answer ? <Verdict answer={answer} /> : null

function KeyAnswer({ apiKey: key, answer, address }: Omit<ReturnType<typeof useUrlCheck>, 'isAsked'>) {
  const error = key.error ?? answer.error
  if (error) return <ErrorState error={error} />
  return answer.data && key.data ? (
    <Verdict answer={answer.data} apiKey={key.data} address={address} />
  ) : (
    <Skeleton lines={5} />
  )
}
