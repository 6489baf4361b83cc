import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Explained, openExplained } from '../../../test/explained.ts'
import { pageOf } from '../../platform/http/index.ts'
import { cardCodesOf, listCardRowsOf, listEntriesOfCards } from '../campaigns/index.ts'
import { listCustomersByCursor } from '../customers/index.ts'
import { listRedemptionsOfCards } from '../redemptions/index.ts'

let explained: Explained
beforeAll(async () => {
  explained = await openExplained()
})
afterAll(() => explained.database.close())

const PAGES = [{}, { limit: 2, page: 3 }, { cursor: '5.cust_1' }, { from: '2026-01-01', to: '2026-02-01' }]

test.each([
  [{}, 'customers_newest (project_id=?'],
  [{ id: 'cust_1' }, '(project_id=? AND id=?'],
  [{ source_id: 'crm-1' }, '(project_id=? AND source_id=?'],
  [{ email: 'ann@example.com' }, 'customers_of_email (project_id=? AND email=?'],
  [{ name: 'Ann Lee' }, 'customers_of_name (project_id=? AND name=?'],
])('a list of customers by %j reads an index', async (filter, index) => {
  for (const page of PAGES) {
    const plan = await explained.planOf(() =>
      listCustomersByCursor(explained.reader, { projectId: 'p', ...filter }, pageOf(page)),
    )
    expect(plan.join()).toContain(index)
    for (const step of plan) expect(step).toMatch(/^SEARCH customers .*\(project_id=\?/)
  }
})

test.each([
  [
    'cards',
    (page: object) => listCardRowsOf(explained.reader, { projectId: 'p', holderId: 'c' }, pageOf(page)),
    'vouchers_holder (project_id=? AND holder_id=?',
  ],
  [
    'names of cards',
    () => cardCodesOf(explained.reader, 'p', 'c'),
    'vouchers_holder (project_id=? AND holder_id=?',
  ],
  [
    'transactions',
    (page: object) =>
      listEntriesOfCards(explained.reader, { projectId: 'p', cardIds: ['a', 'b'] }, pageOf(page)),
    '(project_id=? AND voucher_id=?',
  ],
  [
    'redemptions',
    (page: object) =>
      listRedemptionsOfCards(explained.reader, { projectId: 'p', cardIds: ['a', 'b'] }, pageOf(page)),
    'redemptions_newest (project_id=? AND voucher_id=?',
  ],
] as const)('the %s of a customer are read by holder or card', async (_, list, index) => {
  for (const page of PAGES) {
    const plan = await explained.planOf(() => list(page))
    expect(plan.length).toBeGreaterThan(0)
    for (const step of plan) expect(step).toContain(index)
  }
})
