import { expect, test } from 'vitest'
import { changesOf } from './change.ts'

test('a change lists the fields that differ and no others', () => {
  const before = { name: 'till', state: 'active', permissions: ['api'], updated_at: '1', gone: 1 }
  const after = { name: 'till', state: 'blocked', permissions: ['orders', 'api'], updated_at: '2', added: {} }
  expect(changesOf(before, after)).toEqual([
    { field: 'state', before: 'active', after: 'blocked' },
    { field: 'permissions', before: 'api', after: 'orders, api' },
    { field: 'added', before: undefined, after: '{}' },
    { field: 'gone', before: '1', after: undefined },
  ])
})

test('a change distinguishes an empty list, null and a missing field', () => {
  expect(changesOf({ a: [] }, { a: null })).toEqual([{ field: 'a', before: '[]', after: 'null' }])
  expect(changesOf(null, { a: null })).toEqual([{ field: 'a', before: undefined, after: 'null' }])
  expect(changesOf({ a: 1 }, null)).toEqual([{ field: 'a', before: '1', after: undefined }])
  expect(changesOf(null, null)).toEqual([])
})
