import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { auditDependencies } from '../scripts/check-dependencies.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

test('no package that users install runs a script, has a licence that does not fit, or is not used', () => {
  const { shipped, faults } = auditDependencies(ROOT)
  expect(faults).toEqual([])
  // Otherwise it has checked nothing.
  expect(shipped.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['fastify', 'kysely', 'pg', 'commander', 'react', 'uplot', '@react-types/shared']),
  )
})

test('the software bill of materials names every production package of the lock file, in its version', () => {
  const script = join(ROOT, 'server/scripts/write-sbom.ts')
  const { components } = JSON.parse(execFileSync(process.execPath, [script], { encoding: 'utf8' }))
  const listed = new Set(components.map(({ purl }: { purl: string }) => decodeURIComponent(purl)))
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'))
  const installed = Object.entries<{ version: string; dev?: boolean; link?: boolean }>(packages)
    .filter(([path, { dev, link }]) => path.includes('node_modules/') && !dev && !link)
    .map(([path, { version }]) => `pkg:npm/${path.slice(path.lastIndexOf('node_modules/') + 13)}@${version}`)
  expect(installed.length).toBeGreaterThan(50)
  expect(installed.filter((one) => !listed.has(one))).toEqual([])
  expect([...listed].filter((one) => /(vitest|typescript|biome)@/.test(String(one)))).toEqual([])
})

/** The manifests of this repository, with a change, and a little source. */
function changed(file: string, change: (json: Record<string, never>) => unknown): string {
  const folder = mkdtempSync(join(tmpdir(), 'jeton-dependencies-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  mkdirSync(join(folder, 'bench'))
  for (const one of ['package.json', 'package-lock.json', 'vitest.config.ts', 'server', 'console', 'sdk'])
    cpSync(join(ROOT, one), join(folder, one), {
      recursive: true,
      filter: (path) => !path.includes('node_modules'),
    })
  cpSync(join(ROOT, 'bench'), join(folder, 'bench'), {
    recursive: true,
    filter: (path) => !path.includes('node_modules'),
  })
  const path = join(folder, file)
  const json = JSON.parse(readFileSync(path, 'utf8'))
  change(json)
  writeFileSync(path, JSON.stringify(json))
  return folder
}

type Lock = { packages: Record<string, Record<string, unknown>> }

test('a script at installation, a licence that does not fit, and a package that nobody uses are found', () => {
  const inLock = (entry: object) =>
    changed('package-lock.json', (json) => {
      Object.assign((json as never as Lock).packages['node_modules/fastify']!, entry)
    })
  expect(auditDependencies(inLock({ hasInstallScript: true })).faults).toEqual([
    expect.stringContaining('fastify runs an install script'),
  ])
  expect(auditDependencies(inLock({ license: 'AGPL-3.0' })).faults).toEqual([
    expect.stringContaining('fastify has the licence AGPL-3.0'),
  ])
  const bundled = changed('package-lock.json', (json) => {
    Object.assign((json as never as Lock).packages['node_modules/uplot']!, { license: 'GPL-3.0' })
  })
  expect(auditDependencies(bundled).faults).toEqual([
    expect.stringContaining('uplot has the licence GPL-3.0'),
  ])
  const unused = changed('server/package.json', (json) =>
    Object.assign(json.dependencies!, { 'left-pad': '1.0.0' }),
  )
  expect(auditDependencies(unused).faults).toEqual(['left-pad of server/package.json is not used'])
})
