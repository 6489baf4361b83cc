import { Card } from '../../components/card.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { TimeChart } from '../../components/time-chart.tsx'
import { balancesOf } from './balance.ts'
import { type CustomerProps, useTransactions } from './transactions.ts'

export function BalanceChart(props: CustomerProps) {
  const list = useTransactions(props)
  return (
    <Card title="Balance over time">
      <Loaded query={list}>
        {({ data }) =>
          data.length === 0 ? (
            <p className="dim">No points yet.</p>
          ) : (
            <TimeChart label={`Points; ${data[0]!.balance} now`} {...balancesOf(data, Date.now())} />
          )
        }
      </Loaded>
    </Card>
  )
}
