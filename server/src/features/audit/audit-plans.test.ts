import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Explained, openExplained } from '../../../test/explained.ts'
import { pageOf } from '../../platform/http/index.ts'
import { listAuditRows } from './audit.store.ts'

let explained: Explained
beforeAll(async () => {
  explained = await openExplained()
})
afterAll(() => explained.database.close())

const cursor = '5.aud_1'
const times = { from: '2026-01-01', to: '2026-02-01' }
const PAGES = [{}, { limit: 2, page: 3 }, times, { cursor }, { ...times, cursor }]

const action = 'api_key.blocked'
const [actor, subject, projectId] = ['op_1', 'key_1', 'proj_1']
const FILTERS = [
  { filter: {}, index: 'audit_log_at' },
  { filter: { action }, index: 'audit_log_action' },
  { filter: { actor }, index: 'audit_log_actor' },
  { filter: { actor, action }, index: 'audit_log_actor_action' },
  { filter: { subject }, index: 'audit_log_subject' },
  { filter: { projectId }, index: 'audit_log_project' },
  { filter: { projectId, action }, index: 'audit_log_project_action' },
  { filter: { projectId, actor }, index: 'audit_log_project_actor' },
  { filter: { projectId, actor, action }, index: 'audit_log_project_actor_action' },
  { filter: { projectId, subject }, index: 'audit_log_project_subject' },
]

test.each(FILTERS)(
  'the audit log filtered by $filter reads only the index $index, on every page',
  async ({ filter, index }) => {
    for (const page of PAGES) {
      const plan = await explained.planOf(() => listAuditRows(explained.reader, filter, pageOf(page)))
      const [rows, ...others] = plan.filter((step) => !step.includes('COVERING'))
      expect(rows).toContain('(id=?)')
      expect(others).toEqual([])
      expect(plan.join()).toContain(`COVERING INDEX ${index}`)
      // The total is counted up to 10,000, in any index with the same leading columns.
      const narrowed = Object.keys(filter).length
      for (const step of plan.filter((one) => one !== rows))
        expect(step.match(/(project_id|action|actor_id|subject_id)=/g) ?? []).toHaveLength(narrowed)
      if ('cursor' in page) expect(plan.join()).toContain('(at,id)<(?,?)')
    }
  },
)
