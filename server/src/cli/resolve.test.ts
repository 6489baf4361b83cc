import { expect, test } from 'vitest'
import type { ApiRequest, Session } from './call-api.ts'
import { wholeList } from './resolve.ts'

const PAGE = 100
const LIST = { method: 'GET', path: '/things', query: { state: 'active' } }

/** A list of this many entries, returned like by the API: by cursor or by page. */
function listing(length: number, { byCursor, total = length }: { byCursor: boolean; total?: number }) {
  const asked: ApiRequest[] = []
  const call = async (request: ApiRequest) => {
    asked.push(request)
    const start = byCursor
      ? Number(request.query?.cursor ?? 0)
      : (Number(request.query?.page ?? 1) - 1) * PAGE
    const data = Array.from({ length: Math.min(PAGE, length - start) }, (_, i) => ({ id: start + i }))
    const next_cursor = byCursor && start + PAGE < length ? String(start + PAGE) : null
    return { status: 200, text: '', json: { data, total, next_cursor } }
  }
  return { asked, session: { call } as Partial<Session> as Session }
}

test.each([0, 1, 100, 101, 250, 300])(
  '%i entries are all read exactly once, by page and by cursor',
  async (length) => {
    for (const byCursor of [true, false]) {
      const { session, asked } = listing(length, { byCursor })
      const { data } = await wholeList(session, LIST)
      expect(data.map(({ id }) => id)).toEqual(Array.from({ length }, (_, i) => i))
      expect(asked).toHaveLength(Math.max(1, Math.ceil(length / PAGE)))
      expect(asked.every(({ query }) => query?.state === 'active')).toBe(true)
    }
  },
)

test('a capped total does not end a list early', async () => {
  const { session } = listing(450, { byCursor: true, total: 200 })
  expect((await wholeList(session, LIST)).data).toHaveLength(450)
})
