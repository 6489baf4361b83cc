import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Schemas } from '../../api/client.ts'
import { useKeyNames } from '../../api/key-names.ts'
import { useApi } from '../../api/query.ts'
import { Button } from '../../components/button.tsx'
import { Card } from '../../components/card.tsx'
import { Facts } from '../../components/facts.tsx'
import { Id } from '../../components/id.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { RelativeTime } from '../../components/relative-time.tsx'
import { useProjectId } from '../../routing/project-route.tsx'
import { useSearchParams } from '../../routing/search-params.ts'
import { Steps } from './steps.tsx'
import { Fix } from './verdict.tsx'

type Refusal = Schemas['Refusal']

/** Explains the refusal of one request, by its id. */
export function ExplainedRefusal({ requestId }: { requestId: string }) {
  const [, change] = useSearchParams()
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
      <Loaded query={refusal}>{(found) => <Explanation refusal={found} />}</Loaded>
    </Card>
  )
}

const Explanation = ({ refusal }: { refusal: Refusal }) => (
  <div className="verdict">
    <div className="stack tight">
      <Steps steps={refusal.steps} />
      <Fix remedy={refusal.remedy} command={refusal.command} />
      <CheckNow refusal={refusal} />
    </div>
    <RequestFacts refusal={refusal} />
  </div>
)

/** A call of the API, not of the OAuth endpoints: these take no token. */
const isCall = (path: string): boolean =>
  /^(\/client)?\/v1(\/|$)/.test(path) && !path.startsWith('/v1/oauth/')

function CheckNow({ refusal: { key_id: key, path, address } }: { refusal: Refusal }) {
  if (key === null || !isCall(path)) return null
  const search = { key, path, ...(address !== null && { address }) }
  return (
    <p>
      <Link to="." search={search as never} className="button">
        Check the same call of this key now
      </Link>
    </p>
  )
}

const UNKNOWN = <span className="dim">unknown</span>

function RequestFacts({ refusal }: { refusal: Refusal }) {
  const projectId = useProjectId()
  const nameOf = useKeyNames(projectId)
  const { key_id, forwarded } = refusal
  const key = key_id && (
    <Link to="/projects/$projectId/api-keys/$keyId" params={{ projectId, keyId: key_id }}>
      {nameOf(key_id)}
    </Link>
  )
  const facts: [string, ReactNode][] = [
    ['Request', <code key="request">{`${refusal.method} ${refusal.path}`}</code>],
    ['Answer', `${refusal.status} ${refusal.key}`],
    ['When', <RelativeTime key="at" at={refusal.at} />],
    ['API key', key ?? UNKNOWN],
    ['Client address', <code key="address">{refusal.address ?? 'unknown'}</code>],
    ['Peer of the socket', <code key="socket">{refusal.socket_address}</code>],
    ['X-Forwarded-For', <code key="forwarded">{forwarded ?? 'not sent'}</code>],
    ['Request id', <Id key="id" value={refusal.request_id} />],
  ]
  return <Facts facts={facts} />
}
