import { chownSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import postgres from 'postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { makeAuthority } from '../certificates.ts'
import { jetonProcess, newFolder } from '../command-line.ts'
import { type PostgresServer, startPostgres } from '../postgres-server.ts'

/** As the test server runs where the tests belong to root. */
const NOBODY = 65_534
const authority = makeAuthority()
let server: PostgresServer
let folder: string
let authorityFile: string

/** A PostgreSQL with a certificate for `localhost`, a role that is no superuser, and a database that belongs to it. */
beforeAll(async () => {
  folder = newFolder('tls')
  authorityFile = join(folder, 'ca.pem')
  writeFileSync(authorityFile, authority.cert)
  server = await startPostgres()
  const sql = postgres(server.url(), { max: 1 })
  await sql.unsafe(`create role jeton_app login password 'letters-and-digits'`)
  await sql.unsafe('create database jeton_app owner jeton_app')
  const data = String((await sql.unsafe('show data_directory'))[0]!.data_directory)
  const { cert, key } = authority.issue({ names: ['localhost'] })
  for (const [name, text] of Object.entries({ 'server.crt': cert, 'server.key': key })) {
    writeFileSync(join(data, name), text, { mode: 0o600 })
    if (process.getuid?.() === 0) chownSync(join(data, name), NOBODY, NOBODY)
  }
  await sql.unsafe('alter system set ssl = on')
  await sql.end()
  await server.restart()
})
afterAll(async () => {
  await server.remove()
  rmSync(folder, { recursive: true, force: true })
})

const migrate = (query: string, env: Record<string, string> = {}) =>
  jetonProcess(['migrate'], {
    JETON_DATABASE_URL: `postgres://jeton_app:letters-and-digits@localhost:${server.port}/jeton_app${query}`,
    XDG_CONFIG_HOME: folder,
    ...env,
  })

test('a role that only owns its database can do everything, over a connection that is encrypted', async () => {
  expect(await migrate('?sslmode=require')).toMatchObject({
    code: 0,
    out: expect.stringContaining('applied'),
  })
})

test('sslmode=verify-full accepts a certificate of an authority that NODE_EXTRA_CA_CERTS names', async () => {
  expect(await migrate('?sslmode=verify-full', { NODE_EXTRA_CA_CERTS: authorityFile })).toMatchObject({
    code: 0,
  })
})

test('and refuses one that nobody vouches for, in a line that says what to set', async () => {
  const { code, err } = await migrate('?sslmode=verify-full')
  expect({ code, lines: err.trim().split('\n').length }).toEqual({ code: 75, lines: 1 })
  expect(err).toContain('TLS failed, unable to verify the first certificate.')
  expect(err).toContain('NODE_EXTRA_CA_CERTS')
  expect(err).not.toContain('letters-and-digits')
})
