import './system.css'
import type { Schemas } from '../../api/client.ts'
import { useApi } from '../../api/query.ts'
import { Card } from '../../components/card.tsx'
import { CopyButton } from '../../components/copy-button.tsx'
import { type Column, Rows } from '../../components/data-table.tsx'
import { ChoiceFilter, FilterBar, TextFilter } from '../../components/filter-bar.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { EmptyState } from '../../components/notices.tsx'
import { useSearchParams } from '../../routing/search-params.ts'

type Setting = Schemas['Setting']

/** An empty list is a value, but looks like none. */
const Value = ({ value }: { value: string | null }) =>
  value ? <code>{value}</code> : <span className="dim">{value === null ? 'not set' : 'empty'}</span>

const COLUMNS: readonly Column<Setting>[] = [
  { header: 'Name', cell: ({ name }) => <code>{name}</code> },
  { header: 'Value', cell: ({ value }) => <Value value={value} /> },
  {
    header: 'Source',
    cell: ({ source }) => <span className={source === 'default' ? 'dim' : undefined}>{source}</span>,
  },
  {
    header: 'Default',
    cell: ({ default: value }) => (
      <span className="dim">
        <Value value={value} />
      </span>
    ),
  },
]

const SOURCES = [
  ['environment', 'environment'],
  ['flag', 'flag'],
  ['default', 'default'],
] as const

/** Settings of the process that answered, not of anybody's shell. */
export function SettingsCard() {
  const [{ setting = '', source }] = useSearchParams()
  const settings = useApi('/settings')
  const matches = (one: Setting) =>
    one.name.toLowerCase().includes(setting.toLowerCase()) && (source === undefined || one.source === source)
  return (
    <Card
      title="Effective settings"
      aside={<CopyButton text="jeton config" label="Copy as CLI" look="quiet" />}
      flush
    >
      <Loaded query={settings} lines={6}>
        {({ data, process }) => (
          <>
            <div className="stack tight system-settings">
              <p className="dim small">
                Of {process.host}, process {process.pid}. Secrets are masked.
              </p>
              <FilterBar names={['setting', 'source']}>
                <TextFilter name="setting" label="Name" placeholder="JETON_" />
                <ChoiceFilter name="source" label="Source" choices={SOURCES} />
              </FilterBar>
            </div>
            {data.some(matches) ? (
              <Rows
                label="Settings"
                rows={data.filter(matches)}
                columns={COLUMNS}
                rowKey={({ name }) => name}
              />
            ) : (
              <EmptyState sentence="No setting matches the filters." command="jeton config" />
            )}
          </>
        )}
      </Loaded>
    </Card>
  )
}
