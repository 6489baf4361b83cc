import { Link } from '@tanstack/react-router'
import type { Schemas } from '../../api/client.ts'
import { Address } from '../../components/address.tsx'
import { Facts } from '../../components/facts.tsx'
import { Id } from '../../components/id.tsx'
import { countText } from '../../components/number-text.ts'
import { RelativeTime } from '../../components/relative-time.tsx'
import { StateBadge } from '../../components/state-badge.tsx'

type ApiKey = Schemas['ApiKey']

const Tokens = ({ id, project_id, active_tokens, token_limit }: ApiKey) => (
  <>
    <Link to="/projects/$projectId/tokens" params={{ projectId: project_id }} search={{ key: id } as never}>
      {countText(active_tokens)} active
    </Link>
    <span className="dim">
      {token_limit === null ? ', no limit of its own' : ` of at most ${countText(token_limit)}`}
    </span>{' '}
    {token_limit !== null && active_tokens >= token_limit && <StateBadge tone="warn">full</StateBadge>}
  </>
)

const Addresses = ({ recent_addresses }: ApiKey) =>
  recent_addresses.length === 0 ? (
    <span className="dim">none yet</span>
  ) : (
    <ul className="plain">
      {recent_addresses.map(({ address, last_used_at }) => (
        <li key={address}>
          <Address value={address} />{' '}
          <span className="dim">
            <RelativeTime at={last_used_at} />
          </span>
        </li>
      ))}
    </ul>
  )

export const KeyFacts = ({ apiKey }: { apiKey: ApiKey }) => (
  <Facts
    facts={[
      ['App id', <Id key="app" value={apiKey.app_id} />],
      [
        'Secret',
        <span key="secret" className="mono">
          …{apiKey.app_token_last4}
        </span>,
      ],
      ['Client id', <Id key="client" value={apiKey.client_id} />],
      ['Key id', <Id key="id" value={apiKey.id} />],
      ['Permissions', apiKey.permissions.join(', ')],
      [
        'Allowed from',
        apiKey.ip_whitelist.length === 0 ? (
          <span key="any" className="tone-warn">
            any address
          </span>
        ) : (
          <span key="list" className="mono">
            {apiKey.ip_whitelist.join(', ')}
          </span>
        ),
      ],
      ['Tokens', <Tokens key="tokens" {...apiKey} />],
      ['Created', <RelativeTime key="created" at={apiKey.created_at} />],
      ['Secret rotated', <RelativeTime key="rotated" at={apiKey.regenerated_at} />],
      ['Seen from', <Addresses key="addresses" {...apiKey} />],
    ]}
  />
)

/** While the old secret still works: whether somebody uses it. */
export function PreviousSecret({ apiKey: { previous_secret: previous } }: { apiKey: ApiKey }) {
  if (!previous?.valid_until) return null
  return (
    <p className={previous.last_used_at ? 'note warn' : 'note'}>
      The old secret stops working <RelativeTime at={previous.valid_until} />.{' '}
      {previous.last_used_at ? (
        <>
          It was last used <RelativeTime at={previous.last_used_at} /> from{' '}
          <Address value={previous.last_used_from} />.
        </>
      ) : (
        'Nobody has used it since the rotation.'
      )}
    </p>
  )
}
