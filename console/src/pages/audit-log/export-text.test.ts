import { expect, test } from 'vitest'
import type { Schemas } from '../../api/client.ts'
import { csvCell, toCsv, toNdjson } from './export-text.ts'

const entry: Schemas['AuditEntry'] = {
  id: 'aud_1',
  object: 'audit_entry',
  at: '2026-11-18T02:00:00.000Z',
  actor: { type: 'operator', id: 'op_1' },
  actor_name: '=HYPERLINK("http://x")',
  via: 'session',
  address: '::1',
  action: 'project.updated',
  project_id: 'proj_1',
  subject: { type: 'project', id: 'proj_1' },
  before: { name: 'a' },
  after: { name: 'b\r\n"c",d' },
  request_id: null,
}

test.each(['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1', '\n=1', '＝1'])(
  'the CSV cell of %j is text for a spreadsheet',
  (hostile) => {
    expect(csvCell(hostile)).toBe(`"'${hostile}"`)
  },
)

test('a CSV cell doubles quotes and keeps everything else', () => {
  expect(csvCell('a "b", c\n=d')).toBe('"a ""b"", c\n=d"')
  expect(csvCell(null)).toBe('""')
})

test('the CSV export has a header and one row per entry, however hostile its text', () => {
  const [header, row] = toCsv([entry]).split(/\r\n/)
  expect(header!.split(',')).toHaveLength(14)
  expect(row).toContain(`"'=HYPERLINK(""http://x"")"`)
  expect(row).toContain(`"{""name"":""b\\r\\n\\""c\\"",d""}"`)
  expect(row!.endsWith('"","aud_1"')).toBe(true)
})

test('the NDJSON export has one line per entry, as the API returns it', () => {
  const lines = toNdjson([entry, entry]).trimEnd().split('\n')
  expect(lines.map((one) => JSON.parse(one))).toEqual([entry, entry])
})
