import { Link } from '@tanstack/react-router'
import type { Schemas } from '../../api/client.ts'
import { ActiveTokens } from '../../components/active-tokens.tsx'
import { Address } from '../../components/address.tsx'
import type { Column } from '../../components/data-table.tsx'
import { countText } from '../../components/number-text.ts'
import { RelativeTime } from '../../components/relative-time.tsx'
import { Sparkline } from '../../components/sparkline.tsx'
import { KeyState } from './key-state.tsx'

type ApiKey = Schemas['ApiKey']

const MAX_SHOWN = 3

/** A few of many, and how many more. */
function Some({ values }: { values: readonly string[] }) {
  const rest = values.length - MAX_SHOWN
  return (
    <span title={values.join('\n')}>
      {values.slice(0, MAX_SHOWN).join(', ')}
      {rest > 0 && <span className="dim"> +{rest}</span>}
    </span>
  )
}

const Addresses = ({ list }: { list: readonly string[] }) =>
  list.length === 0 ? (
    <span className="tone-warn">any</span>
  ) : (
    <span className="mono word">
      <Some values={list} />
    </span>
  )

function Requests({ apiKey, calls }: { apiKey: ApiKey; calls: Schemas['Usage'] | undefined }) {
  const points = calls?.series.find(({ key }) => key === apiKey.id)?.points
  return (
    <span className="sparkline-cell">
      {points && (
        <Sparkline
          values={points.map(([, count]) => count ?? 0)}
          label={`Calls of ${apiKey.name} by the hour`}
        />
      )}
      {countText(apiKey.usage_24h.requests)}
    </span>
  )
}

export const keyColumns = (calls: Schemas['Usage'] | undefined): readonly Column<ApiKey>[] => [
  {
    header: 'Name',
    cell: ({ id, name, project_id }) => (
      <Link to="/projects/$projectId/api-keys/$keyId" params={{ projectId: project_id, keyId: id }}>
        {name}
      </Link>
    ),
  },
  { header: 'State', cell: ({ state }) => <KeyState state={state} /> },
  { header: 'Permissions', cell: ({ permissions }) => <Some values={permissions} /> },
  { header: 'Addresses', cell: ({ ip_whitelist }) => <Addresses list={ip_whitelist} /> },
  {
    header: 'Tokens',
    align: 'end',
    cell: ({ active_tokens, token_limit }) => <ActiveTokens active={active_tokens} limit={token_limit} />,
  },
  { header: 'Requests, 24 h', align: 'end', cell: (key) => <Requests apiKey={key} calls={calls} /> },
  {
    header: 'Refused',
    align: 'end',
    cell: ({ usage_24h: { refused } }) =>
      refused > 0 ? <span className="tone-warn">{countText(refused)}</span> : <span className="dim">0</span>,
  },
  {
    header: 'Last used',
    cell: ({ last_used_at, last_used_from }) => (
      <>
        <RelativeTime at={last_used_at} />
        {last_used_from && (
          <div className="dim">
            <Address value={last_used_from} />
          </div>
        )}
      </>
    ),
  },
]
