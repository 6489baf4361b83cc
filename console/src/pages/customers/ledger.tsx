import { Card } from '../../components/card.tsx'
import { type Column, Rows } from '../../components/data-table.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { EmptyState } from '../../components/notices.tsx'
import { countText } from '../../components/number-text.ts'
import { RelativeTime } from '../../components/relative-time.tsx'
import { type CustomerProps, type Transaction, useTransactions } from './transactions.ts'

const SHOWN = 20

const TYPES: Readonly<Record<string, string>> = {
  POINTS_ADDITION: 'added',
  POINTS_REMOVAL: 'removed',
  POINTS_REDEMPTION: 'redeemed',
}

export function Ledger(props: CustomerProps) {
  const list = useTransactions(props)
  return (
    <Card flush title="Ledger">
      <Loaded query={list}>
        {({ data, total }) =>
          data.length === 0 ? (
            <EmptyState sentence="Nothing has changed the points of this customer." />
          ) : (
            <>
              <Rows
                label="Changes of points"
                rows={data.slice(0, SHOWN)}
                rowKey={({ id }) => id}
                columns={COLUMNS}
              />
              {total > SHOWN && (
                <p className="pager dim small">
                  The newest {SHOWN} of {countText(total)}. All of them: jeton customer transactions
                </p>
              )}
            </>
          )
        }
      </Loaded>
    </Card>
  )
}

const COLUMNS: readonly Column<Transaction>[] = [
  { header: 'What', cell: ({ type }) => TYPES[type] ?? type },
  {
    header: 'Points',
    align: 'end',
    cell: ({ points }) => (points > 0 ? `+${countText(points)}` : countText(points)),
  },
  { header: 'Balance', align: 'end', cell: ({ balance }) => countText(balance) },
  {
    header: 'Why',
    cell: ({ reward_name, reason, source_id }) => {
      const why = reward_name ?? reason ?? source_id
      return why ? <bdi>{why}</bdi> : <span className="dim">–</span>
    },
  },
  { header: 'Card', cell: ({ card }) => <span className="mono word">{card}</span> },
  { header: 'When', cell: ({ created_at }) => <RelativeTime at={created_at} /> },
]
