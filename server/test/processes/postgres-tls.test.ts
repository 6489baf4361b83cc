import { chownSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { StoreUnavailable } from '../../src/platform/database/index.ts'
import { openPostgres } from '../../src/platform/database/postgres/open.ts'
import { makeAuthority } from '../certificates.ts'
import { jetonProcess, newFolder } from '../command-line.ts'
import { type PostgresServer, startPostgres } from '../postgres-server.ts'
import { connectSql } from '../sql.ts'

/** As the test server runs where the tests belong to root. */
const NOBODY = 65_534
const authority = makeAuthority()
let server: PostgresServer
let folder: string
let authorityFile: string

/** Puts a certificate where the server finds it; `restart` or a reload makes it use it. */
function install(wanted: Parameters<typeof authority.issue>[0]): void {
  const { cert, key } = authority.issue(wanted)
  for (const [name, text] of Object.entries({ 'server.crt': cert, 'server.key': key })) {
    writeFileSync(join(server.data, name), text, { mode: 0o600 })
    if (process.getuid?.() === 0) chownSync(join(server.data, name), NOBODY, NOBODY)
  }
}

/** A PostgreSQL with a certificate for `localhost`, a role that is no superuser, and a database that belongs to it. */
beforeAll(async () => {
  folder = newFolder('tls')
  authorityFile = join(folder, 'ca.pem')
  writeFileSync(authorityFile, authority.cert)
  server = await startPostgres()
  const sql = connectSql(server.url())
  await sql.run(`create role jeton_app login password 'letters-and-digits'`)
  await sql.run('create database jeton_app owner jeton_app')
  install({ names: ['localhost'] })
  await sql.run('alter system set ssl = on')
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

test('a role that only owns its database is sufficient, over an encrypted connection', async () => {
  expect(await migrate('?sslmode=require')).toMatchObject({
    code: 0,
    out: expect.stringContaining('applied'),
  })
})

test('sslmode=verify-full accepts a certificate whose authority is in NODE_EXTRA_CA_CERTS', async () => {
  expect(await migrate('?sslmode=verify-full', { NODE_EXTRA_CA_CERTS: authorityFile })).toMatchObject({
    code: 0,
  })
})

test('sslmode=verify-full refuses a certificate of an unknown authority, and names the setting to change', async () => {
  const { code, err } = await migrate('?sslmode=verify-full')
  expect({ code, lines: err.trim().split('\n').length }).toEqual({ code: 75, lines: 1 })
  expect(err).toContain('TLS failed, unable to verify the first certificate.')
  expect(err).toContain('NODE_EXTRA_CA_CERTS')
  expect(err).not.toContain('letters-and-digits')
})

describe('certificates and hosts', () => {
  /** Asks it for its certificate over a connection of its own, so that only what is installed counts. */
  async function connect(host: string, mode: string, rootCertificate = authorityFile): Promise<string> {
    const url = `postgres://jeton_app:letters-and-digits@${host}:${server.port}/jeton_app?sslmode=${mode}`
    const db = await openPostgres(`${url}&sslrootcert=${encodeURIComponent(rootCertificate)}`, 2)
    try {
      const [row] = await db.withConnection((q) =>
        q.query<{ ssl: boolean }>('select ssl from pg_stat_ssl where pid = pg_backend_pid()'),
      )
      return row!.ssl ? 'encrypted' : 'plain'
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error
      return error.message.replace(/^PostgreSQL: TLS failed, /, '')
    } finally {
      await db.close()
    }
  }

  async function use(wanted: Parameters<typeof install>[0]): Promise<void> {
    install(wanted)
    await server.restart()
  }

  test('a certificate for a name is refused for an IP address', async () => {
    await use({ names: ['localhost'] })
    expect(await connect('localhost', 'verify-full')).toBe('encrypted')
    const refused = 'the certificate is for DNS:localhost, not for 127.0.0.1'
    expect(await connect('127.0.0.1', 'verify-full')).toBe(refused)
    expect(await connect('127.0.0.1', 'verify-ca')).toBe('encrypted')
    expect(await connect('127.0.0.1', 'require')).toBe('encrypted')
  })

  test('a certificate for an IP address is accepted for it, and refused for a name', async () => {
    await use({ names: ['127.0.0.1'] })
    expect(await connect('127.0.0.1', 'verify-full')).toBe('encrypted')
    expect(await connect('localhost', 'verify-full')).toBe(
      'the certificate is for IP Address:127.0.0.1, not for localhost',
    )
  })

  test('only verify-full refuses another host, while verify-ca and require also refuse another authority', async () => {
    await use({ names: ['other.example'] })
    expect(await connect('localhost', 'verify-full')).toContain('not for localhost')
    expect(await connect('localhost', 'verify-ca')).toBe('encrypted')
    const other = join(folder, 'other.pem')
    writeFileSync(other, makeAuthority('Another authority').cert)
    for (const mode of ['verify-full', 'verify-ca', 'require'])
      expect(await connect('localhost', mode, other)).toContain('unable to verify the first certificate')
    expect(await connect('localhost', 'disable', other)).toBe('plain')
  })

  test('sslmode=prefer encrypts if the server can, and allow only if the server requires it', async () => {
    expect(await connect('localhost', 'prefer')).toBe('encrypted')
    expect(await connect('localhost', 'allow')).toBe('plain')
    const plain = new URL(inject('postgresUrl'))
    for (const [mode, outcome] of Object.entries({ prefer: 'plain', allow: 'plain', require: 'refused' })) {
      plain.searchParams.set('sslmode', mode)
      const db = await openPostgres(plain.href, 2)
      const connected = db.withConnection((q) => q.query('select 1')).then(() => 'plain')
      expect(await connected.catch((error) => error instanceof StoreUnavailable && 'refused'), mode).toBe(
        outcome,
      )
      await db.close()
    }
  })

  test('the common name of a certificate counts if it has no alternative name', async () => {
    await use({ names: [], commonName: 'localhost' })
    expect(await connect('localhost', 'verify-full')).toBe('encrypted')
    expect(await connect('127.0.0.1', 'verify-full')).toContain('not for 127.0.0.1')
  })

  test.each([
    ['sslmode=verify_full', /sslmode="verify_full" is not one of: disable, allow/],
    ['ssl=true', /unknown parameter ssl. Use sslmode=/],
    ['sslmode=verify-ca&sslrootcert=/nowhere/ca.pem', /cannot read \/nowhere\/ca\.pem \(ENOENT\)/],
  ])('?%s is refused in one line with exit code 78', async (query, line) => {
    const { code, err } = await migrate(`?${query}`)
    expect(code).toBe(78)
    expect(err.trim().split('\n')).toEqual([expect.stringMatching(line)])
  })
})
