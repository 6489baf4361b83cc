import { useMutation } from '@tanstack/react-query'
import { Download } from 'lucide-react'
import { useState } from 'react'
import type { Schemas } from '../../api/client.ts'
import { MenuButton } from '../../components/menu-button.tsx'
import { ErrorState } from '../../components/notices.tsx'
import { countText } from '../../components/number-text.ts'
import { toCsv, toNdjson } from './export-text.ts'

type Entry = Schemas['AuditEntry']
export interface EntryPage {
  readonly data: readonly Entry[]
  readonly next_cursor?: string | null
}

const FORMATS = {
  ndjson: { title: 'NDJSON', type: 'application/x-ndjson', text: toNdjson },
  csv: { title: 'CSV', type: 'text/csv', text: toCsv },
} as const
type Format = keyof typeof FORMATS

/** More would not fit into the memory of a browser. The command line has no such limit. */
const MAX_ENTRIES = 100_000

function save(text: string, type: string, name: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }))
  const link = Object.assign(document.createElement('a'), { href: url, download: name })
  link.click()
  URL.revokeObjectURL(url)
}

/** Reads every page with the present filters, then saves one file. */
export function ExportButton({ readPage }: { readPage: (cursor?: string) => Promise<EntryPage> }) {
  const [count, setCount] = useState(0)
  const run = useMutation({
    networkMode: 'always',
    async mutationFn(format: Format) {
      const entries: Entry[] = []
      let cursor: string | undefined
      do {
        const page = await readPage(cursor)
        entries.push(...page.data)
        setCount(entries.length)
        cursor = page.next_cursor ?? undefined
      } while (cursor !== undefined && entries.length < MAX_ENTRIES)
      const { type, text } = FORMATS[format]
      save(text(entries), type, `audit-log-${new Date().toISOString().slice(0, 10)}.${format}`)
      return cursor !== undefined
    },
  })
  return (
    <>
      <MenuButton
        groups={[Object.entries(FORMATS).map(([id, { title }]) => ({ id, title }))]}
        isDisabled={run.isPending}
        onAction={(format) => run.mutate(format as Format)}
      >
        <Download size={13} aria-hidden />
        {run.isPending ? `${countText(count)} entries` : 'Export'}
      </MenuButton>
      {run.error && <ErrorState error={run.error} />}
      {run.data && (
        <p role="status" className="tone-warn">
          The file has the newest {countText(MAX_ENTRIES)} entries. All: jeton audit list --all --json
        </p>
      )}
    </>
  )
}
