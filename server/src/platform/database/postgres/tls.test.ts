import { X509Certificate } from 'node:crypto'
import { expect, test } from 'vitest'
import { makeAuthority } from '../../../../test/certificates.ts'
import { isFor, tlsOf } from './tls.ts'

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
  expect(tlsOf('db.example', verified)).toMatchObject({ servername: 'db.example', rejectUnauthorized: true })
  for (const address of ['127.0.0.1', '::1'])
    expect(tlsOf(address, verified)).not.toHaveProperty('servername')
})

test.each<[string, unknown]>([
  ['', false],
  ['sslmode=disable', false],
  ['sslmode=allow', 'allow'],
  ['sslmode=prefer', 'prefer'],
  ['sslmode=require', expect.objectContaining({ rejectUnauthorized: false })],
  ['sslmode=require&sslrootcert=system', expect.objectContaining({ rejectUnauthorized: true })],
  ['sslrootcert=system', expect.objectContaining({ rejectUnauthorized: true })],
])('?%s means %o', (query, tls) => {
  expect(tlsOf('db.example', new URLSearchParams(query))).toEqual(tls)
})
