import { expect, test } from 'vitest'
import { createSessionCookies } from './session-cookie.ts'

const PROXY = '10.0.0.1'
const cookies = createSessionCookies([PROXY])

const from = (socket: string, headers: Record<string, string>) => ({
  headers,
  caller: { ip: socket, socket, forwarded: null },
})

test.each([
  ['localhost:8080', 'jeton_session_8080'],
  ['LOCALHOST:8080', 'jeton_session_8080'],
  ['127.0.0.1:9090', 'jeton_session_9090'],
  ['[::1]:8080', 'jeton_session_8080'],
  ['localhost', 'jeton_session_80'],
])('on loopback the name of the cookie carries the port: %s %s', (host, name) => {
  const cookie = cookies.of(from('127.0.0.1', { host }))!
  expect(cookie).toEqual({ name, isSecure: false })
  expect(cookies.header(cookie, 'x')).toBe(`${name}=x; Path=/; HttpOnly; SameSite=Strict`)
})

test.each(['https', 'HTTPS', 'https, https'])(
  'over https the cookie has the prefix __Host- and is Secure: %s',
  (scheme) => {
    const cookie = cookies.of(from(PROXY, { host: 'jeton.example', 'x-forwarded-proto': scheme }))!
    expect(cookies.header(cookie, 'x')).toBe(
      '__Host-jeton_session=x; Path=/; HttpOnly; SameSite=Strict; Secure',
    )
    expect(cookies.header(cookie, '')).toMatch(/^__Host-jeton_session=; .*; Secure; Max-Age=0$/)
  },
)

test.each([
  ['another host over plain http', '127.0.0.1', { host: 'jeton.example' }],
  ['a host that only looks like loopback', '127.0.0.1', { host: 'localhost.example:8080' }],
  ['another address of the loopback network', '127.0.0.1', { host: '127.0.0.2:8080' }],
  ['https that a stranger claims', '10.0.0.2', { host: 'jeton.example', 'x-forwarded-proto': 'https' }],
  ['http between two proxies', PROXY, { host: 'jeton.example', 'x-forwarded-proto': 'https, http' }],
  ['an empty scheme', PROXY, { host: 'jeton.example', 'x-forwarded-proto': 'https,' }],
  ['no host', '127.0.0.1', {}],
])('no cookie counts for %s', (_, socket, headers) => {
  const sent = { ...headers, cookie: '__Host-jeton_session=a; jeton_session_8080=b; jeton_session_80=c' }
  expect(cookies.of(from(socket, sent))).toBeUndefined()
  expect(cookies.read(from(socket, sent))).toBeUndefined()
})

test('only the cookie of its own port and scheme counts, and it must come once', () => {
  const here = (cookie: string) => from('127.0.0.1', { host: 'localhost:8080', cookie })
  expect(cookies.read(here('a=b; jeton_session_8080=x; jeton_session_9090=y'))).toBe('x')
  expect(cookies.read(here('jeton_session_9090=y; __Host-jeton_session=z'))).toBeUndefined()
  expect(cookies.read(here('xjeton_session_8080=y'))).toBeUndefined()
  expect(() => cookies.read(here('jeton_session_8080=x; jeton_session_8080=y'))).toThrow('more than once')
  const https = { host: 'localhost:8080', 'x-forwarded-proto': 'https' }
  expect(cookies.read(from(PROXY, { ...https, cookie: 'jeton_session_8080=x' }))).toBeUndefined()
})
