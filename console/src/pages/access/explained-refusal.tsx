import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Schemas } from '../../api/client.ts'
import { useKeyNames } from '../../api/key-names.ts'
import { useApi } from '../../api/query.ts'
import { Address } from '../../components/address.tsx'
import { Button } from '../../components/button.tsx'
import { Card } from '../../components/card.tsx'
import { Facts } from '../../components/facts.tsx'
import { Id } from '../../components/id.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { RelativeTime } from '../../components/relative-time.tsx'
import type { Failure } from '../../refusal/fix.ts'
import { FixLink } from '../../refusal/fix-link.tsx'
import { remedyText } from '../../refusal/sentence-text.ts'
import { useProjectId } from '../../routing/project-route.tsx'
import { useSearchParams } from '../../routing/search-params.ts'
import { useFailures } from './refusals.tsx'
import { Steps } from './steps.tsx'
import { Fix } from './verdict.tsx'

type Refusal = Schemas['Refusal']

/** Explains the refusal of one request, by its id. */
export function ExplainedRefusal({ requestId }: { requestId: string }) {
  const [, change] = useSearchParams()
  const failureOf = useFailures(useProjectId())
  const refusal = useApi('/refusals/{request_id}', { path: { request_id: requestId } })
  return (
    <Card
      title={<>Why {requestId} was refused</>}
      aside={
        <Button look="quiet" onPress={() => change({ request: undefined })}>
          Close
        </Button>
      }
    >
      <Loaded query={refusal}>{(found) => <Explanation refusal={found} failure={failureOf(found)} />}</Loaded>
    </Card>
  )
}

const Explanation = ({ refusal, failure }: { refusal: Refusal; failure: Failure }) => (
  <div className="verdict">
    <div className="stack tight">
      <Steps steps={refusal.steps} />
      <Fix remedy={remedyText(refusal.remedy)} command={refusal.command} />
      <div className="row">
        <FixLink failure={failure} errorKey={refusal.key} isButton />
        <CheckNow refusal={refusal} />
      </div>
    </div>
    <RequestFacts refusal={refusal} />
  </div>
)

/** A call of the API, not of the OAuth endpoints: these take no token. */
const isCall = (path: string): boolean =>
  /^(\/client)?\/v1(\/|$)/.test(path) && !path.startsWith('/v1/oauth/')

function CheckNow({ refusal }: { refusal: Refusal }) {
  const { key_id: key, address, original_path } = refusal
  const path = original_path ?? refusal.path
  if (key === null || !isCall(path)) return null
  const search = { key, path, ...(address !== null && { address }) }
  return (
    <Link to="." search={search as never} className="button">
      Check the same call of this key now
    </Link>
  )
}

const UNKNOWN = <span className="dim">unknown</span>

function RequestFacts({ refusal }: { refusal: Refusal }) {
  const projectId = useProjectId()
  const nameOf = useKeyNames(projectId)
  const { key_id, forwarded, original_path, needed_scope } = refusal
  const key = key_id && (
    <Link to="/projects/$projectId/api-keys/$keyId" params={{ projectId, keyId: key_id }}>
      {nameOf(key_id)}
    </Link>
  )
  const facts: [string, ReactNode][] = [
    ['Request', <code key="request">{`${refusal.method} ${refusal.path}`}</code>],
    ...(original_path === null
      ? []
      : [['Original path', <code key="original">{original_path}</code>] as [string, ReactNode]]),
    ...(needed_scope === null
      ? []
      : [['Required scope', <code key="scope">{needed_scope}</code>] as [string, ReactNode]]),
    ['Answer', `${refusal.status} ${refusal.key}`],
    ['When', <RelativeTime key="at" at={refusal.at} />],
    ['API key', key ?? UNKNOWN],
    ['Client address', <Address key="address" value={refusal.address} />],
    ['Peer of the socket', <code key="socket">{refusal.socket_address}</code>],
    ['X-Forwarded-For', <code key="forwarded">{forwarded ?? 'not sent'}</code>],
    ['Request id', <Id key="id" value={refusal.request_id} />],
  ]
  return <Facts facts={facts} />
}
