import { useApi } from '../../api/query.ts'
import { Card } from '../../components/card.tsx'
import { CopyButton } from '../../components/copy-button.tsx'
import { Facts } from '../../components/facts.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { bytesText, plural } from '../../components/number-text.ts'
import { StateBadge } from '../../components/state-badge.tsx'

const POLL_MS = 30_000
const ENGINES = { sqlite: 'SQLite', postgres: 'PostgreSQL' } as const

export function StoreCard() {
  const store = useApi('/store', {}, { pollMs: POLL_MS })
  return (
    <Card title="Store" aside={<CopyButton text="jeton store show" label="Copy as CLI" look="quiet" />}>
      <Loaded query={store}>
        {({ engine, name, version, size_bytes, migrations: { applied, pending, latest } }) => (
          <Facts
            facts={[
              ['Engine', `${ENGINES[engine]} ${version}`],
              ['Place', <code key="place">{name}</code>],
              ['Size', bytesText(size_bytes)],
              [
                'Migrations',
                <span key="migrations" className="row">
                  {plural(applied, 'applied', 'applied')}
                  {pending > 0 && <StateBadge tone="warn">{pending} pending: jeton migrate</StateBadge>}
                </span>,
              ],
              ['Latest migration', latest ? <code key="latest">{latest}</code> : 'none'],
            ]}
          />
        )}
      </Loaded>
    </Card>
  )
}
