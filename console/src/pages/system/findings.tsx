import { RotateCw } from 'lucide-react'
import type { Schemas } from '../../api/client.ts'
import { useApi } from '../../api/query.ts'
import { Button } from '../../components/button.tsx'
import { Card } from '../../components/card.tsx'
import { CopyButton } from '../../components/copy-button.tsx'
import { type Column, Rows } from '../../components/data-table.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { plural } from '../../components/number-text.ts'
import { StateBadge, type Tone } from '../../components/state-badge.tsx'

type Check = Schemas['Check']

const TONES: Readonly<Record<Check['result'], Tone>> = {
  failed: 'bad',
  warning: 'warn',
  unknown: 'neutral',
  ok: 'ok',
}
const ORDER = Object.keys(TONES)

const COLUMNS: readonly Column<Check>[] = [
  { header: 'Result', cell: ({ result }) => <StateBadge tone={TONES[result]}>{result}</StateBadge> },
  { header: 'Check', cell: ({ name }) => <span className="nowrap">{name}</span> },
  {
    header: 'Finding',
    cell: ({ says, remedy }) => (
      <>
        {says}
        {remedy && (
          <div className="dim">
            {remedy} <CopyButton text={remedy} label="Copy the remedy" iconOnly />
          </div>
        )}
      </>
    ),
  },
]

/** The worst first. Checks of one result keep their order. */
const byResult = (checks: readonly Check[]): Check[] =>
  checks.toSorted((a, b) => ORDER.indexOf(a.result) - ORDER.indexOf(b.result))

/** How many need a look. */
function Summary({ checks }: { checks: readonly Check[] }) {
  const count = (result: Check['result']) => checks.filter((one) => one.result === result).length
  const [failed, warnings] = [count('failed'), count('warning')]
  if (failed + warnings === 0) return <StateBadge tone="ok">all passed</StateBadge>
  return (
    <>
      {failed > 0 && <StateBadge tone="bad">{`${failed} failed`}</StateBadge>}
      {warnings > 0 && <StateBadge tone="warn">{plural(warnings, 'warning')}</StateBadge>}
    </>
  )
}

/** The findings of `jeton doctor --production`, inside the service. They are read once and at the press of a button. */
export function Findings() {
  const checks = useApi('/checks')
  return (
    <Card
      title="Checks"
      aside={
        <>
          {checks.data && <Summary checks={checks.data.data} />}
          <CopyButton text="jeton doctor --production" label="Copy as CLI" look="quiet" />
          <Button onPress={() => void checks.refetch()} isPending={checks.isFetching}>
            <RotateCw size={13} aria-hidden /> Check again
          </Button>
        </>
      }
      flush
    >
      <Loaded query={checks} lines={6}>
        {({ data }) => (
          <Rows
            label="Checks"
            rows={byResult(data)}
            columns={COLUMNS}
            rowKey={({ name, says }) => `${name} ${says}`}
          />
        )}
      </Loaded>
    </Card>
  )
}
