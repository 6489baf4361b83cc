import { X509Certificate } from 'node:crypto'
import { expect, test } from 'vitest'
import { makeAuthority } from '../../../../test/certificates.ts'
import { isFor, tlsAttempts } from './tls.ts'

const authority = makeAuthority()

/** Rows of certificate names, common name, host, and whether libpq accepts it. */
test.each<[readonly string[], string, string, boolean]>([
  [['db.example'], 'x', 'db.example', true],
  [['db.example'], 'x', 'DB.Example', true],
  [['db.example'], 'other.example', 'other.example', false],
  [['*.example.com'], 'x', 'db.example.com', true],
  [['*.example.com'], 'x', 'a.db.example.com', false],
  [['*.example.com'], 'x', 'example.com', false],
  [['d*.example.com'], 'x', 'db.example.com', false],
  [['db.*.com'], 'x', 'db.example.com', false],
  [[], 'db.example', 'db.example', true],
  [['10.0.0.1'], 'db.example', 'db.example', true],
  [['10.0.0.1'], 'x', '10.0.0.1', true],
  [['10.0.0.1'], '10.0.0.2', '10.0.0.2', false],
  [['db.example'], '10.0.0.1', '10.0.0.1', true],
  [['localhost'], 'localhost', '127.0.0.1', false],
  [['*.0.0.1'], 'x', '127.0.0.1', false],
])('a certificate for %j with the common name %s: for %s %s', (names, commonName, host, accepted) => {
  const certificate = new X509Certificate(authority.issue({ names, commonName }).cert)
  expect(isFor(host, certificate)).toBe(accepted)
})

test('a server name is sent for names, and not for addresses', () => {
  const verified = new URLSearchParams('sslmode=verify-full')
  const [named] = tlsAttempts('db.example', verified)
  expect(named).toMatchObject({ servername: 'db.example', rejectUnauthorized: true })
  for (const address of ['127.0.0.1', '::1'])
    expect(tlsAttempts(address, verified)[0]).not.toHaveProperty('servername')
})

const unchecked = expect.objectContaining({ rejectUnauthorized: false })
const checked = expect.objectContaining({ rejectUnauthorized: true })

test.each<[string, unknown[]]>([
  ['', [false]],
  ['sslmode=disable', [false]],
  ['sslmode=allow', [false, unchecked]],
  ['sslmode=prefer', [unchecked, false]],
  ['sslmode=require', [unchecked]],
  ['sslmode=require&sslrootcert=system', [checked]],
  ['sslrootcert=system', [checked]],
])('?%s connects with %o', (query, attempts) => {
  expect(tlsAttempts('db.example', new URLSearchParams(query))).toEqual(attempts)
})
