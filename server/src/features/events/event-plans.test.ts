import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Explained, openExplained } from '../../../test/explained.ts'
import { TEST_EVENT } from '../../contract/event-kinds.ts'
import { pageOf } from '../../platform/http/index.ts'
import { listEventRows } from './event.store.ts'

let explained: Explained
beforeAll(async () => {
  explained = await openExplained()
})
afterAll(() => explained.database.close())

const cursor = '5.evt_1'
const times = { from: '2026-01-01', to: '2026-02-01' }
const PAGES = [{}, { limit: 2, page: 3 }, times, { cursor }, { ...times, cursor }]
const FILTERS = [
  { index: 'events_newest', filter: {}, search: '(project_id=?' },
  { index: 'events_of_kind', filter: { kind: TEST_EVENT }, search: '(project_id=? AND kind=?' },
  { index: 'events_of_entity', filter: { entity: 'cust_1' }, search: '(project_id=? AND entity_id=?' },
] as const

const IS_WAITING = 'SEARCH o USING PRIMARY KEY (created_at=? AND project_id=? AND event_id=?)'

test.each(FILTERS)(
  'a list of events reads only the index $index, on every page',
  async ({ index, filter, search }) => {
    for (const page of PAGES) {
      const list = () => listEventRows(explained.reader, { projectId: 'p', ...filter }, pageOf(page))
      const plan = await explained.planOf(list)
      const [rows, ...others] = plan.filter((step) => !step.includes('COVERING'))
      expect(rows).toContain('(project_id=? AND id=?)')
      expect(others).toEqual([IS_WAITING])
      expect(plan.join()).toContain(`COVERING INDEX ${index} ${search}`)
      // The total is counted up to 10,000, in any index with the same leading columns.
      for (const step of plan.filter((one) => one !== rows && one !== IS_WAITING))
        expect(step).toContain(search)
      if ('cursor' in page) expect(plan.join()).toContain('AND (created_at,id)<(?,?)')
    }
  },
)
