import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { StoreUnavailable } from '../../platform/database/index.ts'
import { BatchLoader } from './batch-loader.ts'

/** A store whose responses wait until the test releases them. */
function slowStore() {
  const asked: string[][] = []
  const answers: { resolve(values: string[]): void; reject(error: Error): void }[] = []
  const reads = new BatchLoader<string, string>((names) => {
    asked.push(names)
    return new Promise((resolve, reject) => answers.push({ resolve, reject }))
  })
  const answer = async (value: string) => {
    answers.shift()!.resolve(asked[asked.length - answers.length - 1]!.map((name) => `${name} ${value}`))
    await turn()
  }
  const fail = async (error: Error) => {
    answers.shift()!.reject(error)
    await turn()
  }
  return { asked, reads, answer, fail, get: (name: string) => reads.load(name, name) }
}

describe('concurrent reads', () => {
  test('go to the store as one query, with at most one query in flight', async () => {
    const { asked, answer, get } = slowStore()
    const all = ['a', 'b', 'c', 'd'].map(get)
    expect(asked).toEqual([['a']])
    await answer('1')
    expect(asked).toEqual([['a'], ['b', 'c', 'd']])
    await answer('2')
    expect(await Promise.all(all)).toEqual(['a 1', 'b 2', 'c 2', 'd 2'])
  })

  test('of the same name are read once', async () => {
    const { asked, answer, get } = slowStore()
    const all = ['x', 'a', 'a', 'a'].map(get)
    await answer('1')
    await answer('2')
    expect(asked).toEqual([['x'], ['a']])
    expect(await Promise.all(all)).toEqual(['x 1', 'a 2', 'a 2', 'a 2'])
  })

  test('never share the result of a query that was sent before they arrived', async () => {
    const { asked, answer, get } = slowStore()
    const first = get('a')
    const second = get('a')
    await answer('old')
    await answer('new')
    expect(asked).toEqual([['a'], ['a']])
    expect(await Promise.all([first, second])).toEqual(['a old', 'a new'])
  })

  test('fail together, and later reads query again', async () => {
    const { fail, answer, get } = slowStore()
    const first = get('a')
    const failing = expect(first).rejects.toThrow('cut')
    await fail(new StoreUnavailable('cut'))
    await failing
    const second = get('a')
    await answer('back')
    expect(await second).toBe('a back')
  })

  test('are limited to 200 per query', async () => {
    const { asked, answer, get } = slowStore()
    const all = Array.from({ length: 501 }, (_, i) => get(`n${i}`))
    for (let i = 0; i < 4; i++) await answer('ok')
    await Promise.all(all)
    expect(asked.map((names) => names.length)).toEqual([1, 200, 200, 100])
  })

  test('beyond 10,000 waiting ones are rejected, and the waiting ones are served', async () => {
    const { get, answer } = slowStore()
    const waiting = Array.from({ length: 10_001 }, (_, i) => get(`n${i}`))
    await expect(get('one too many')).rejects.toThrow(StoreUnavailable)
    // Joining a read that already waits costs nothing.
    const shared = get('n5000')
    for (let i = 0; i < 51; i++) await answer('ok')
    expect(await Promise.all(waiting)).toHaveLength(10_001)
    expect(await shared).toBe('n5000 ok')
  })
})
