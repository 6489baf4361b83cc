import { afterAll, beforeAll, expect, test } from 'vitest'
import { startNameServer } from '../../../test/name-server.ts'
import { coalesced, createResolver, type ResolveHost } from './resolve.ts'

let server: Awaited<ReturnType<typeof startNameServer>>
let find: ResolveHost
beforeAll(async () => {
  server = await startNameServer({
    'both.example': { a: '192.0.2.7', aaaa: '2001:db8:0:0:0:0:0:7' },
    'four.example': { a: '192.0.2.7' },
    'six.example': { aaaa: '2001:db8:0:0:0:0:0:7' },
    'silent.example': 'silent',
  })
  find = createResolver({ servers: [server.address], timeoutMs: 250 })
})
afterAll(() => server.close())

test.each([
  ['both.example', ['192.0.2.7', '2001:db8::7']],
  ['four.example', ['192.0.2.7']],
  ['six.example', ['2001:db8::7']],
])('%s is found with all its addresses', async (name, addresses) => {
  const found = await find(name)
  expect(found.map(({ address }) => address)).toEqual(addresses)
  for (const { address, family } of found) expect(family).toBe(address.includes(':') ? 6 : 4)
})

test('a name whose servers never answer fails, and the system resolver is not asked', async () => {
  await expect(find('silent.example')).rejects.toMatchObject({ code: 'ETIMEOUT' })
})

test('a name that DNS does not know is resolved by the system', async () => {
  // This server has no such name, so any result comes from the system: most likely that there is none.
  const told = await find('nothing.invalid').then(
    () => 'found',
    (error) => error.syscall,
  )
  expect(server.asked).toContain('nothing.invalid A')
  expect(['getaddrinfo', 'found']).toContain(told)
})

test.each(['localhost', 'app.localhost'])(
  '%s is resolved by the system, without a DNS query',
  async (name) => {
    const found = await find(name).catch(() => [])
    for (const { address } of found) expect(['127.0.0.1', '::1']).toContain(address)
    if (name === 'localhost') expect(found.length).toBeGreaterThan(0)
    expect(server.asked.filter((question) => question.startsWith(name))).toEqual([])
  },
)

test('concurrent lookups of a name share one query and its failure, and later ones query again', async () => {
  let asked = 0
  const shared = coalesced(async (name) => {
    asked++
    if (name === 'bad.example') throw new Error('bad')
    return [{ address: `127.0.0.${asked}`, family: 4 }]
  })
  const [one, two, other] = await Promise.all([shared('a.example'), shared('a.example'), shared('b.example')])
  expect([one, two, other].map(([found]) => found!.address)).toEqual(['127.0.0.1', '127.0.0.1', '127.0.0.2'])
  expect((await shared('a.example'))[0]!.address).toBe('127.0.0.3')
  const failures = await Promise.allSettled([shared('bad.example'), shared('bad.example')])
  expect(failures.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(asked).toBe(4)
})
