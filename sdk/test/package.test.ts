import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { publint } from 'publint'
import { describe, expect, inject, test } from 'vitest'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const [alone, project] = [inject('sdkAlone'), inject('sdkProject')]
const installed = join(alone, 'node_modules', '@jeton', 'sdk')
const manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'))
const ENTRIES = Object.keys(manifest.exports).filter((name) => name !== './package.json')
const require = createRequire(import.meta.url)

test('the package contains compiled code and types, brings no dependencies, and runs no script at installation', () => {
  expect(readdirSync(installed).sort()).toEqual(['LICENSE', 'README.md', 'dist', 'package.json'])
  expect(manifest.dependencies).toBeUndefined()
  expect(Object.keys(manifest.scripts)).not.toContain('postinstall')
  expect(readdirSync(join(alone, 'node_modules')).filter((name) => !name.startsWith('.'))).toEqual(['@jeton'])
  expect(readdirSync(join(alone, 'node_modules', '@jeton'))).toEqual(['sdk'])
  const files = readdirSync(join(installed, 'dist'), { recursive: true, encoding: 'utf8' })
  const code = files.filter((file) => file.includes('.'))
  expect(code.every((file) => file.endsWith('.js') || file.endsWith('.d.ts'))).toBe(true)
})

test('packing does not change the checkout', () => {
  for (const made of ['dist', 'LICENSE']) expect(existsSync(join(ROOT, 'sdk', made)), made).toBe(false)
})

test('every entry is imported by plain JavaScript in an otherwise empty project', () => {
  const names = ENTRIES.map((name) => `@jeton/sdk${name.slice(1)}`)
  const program = `
    const found = {}
    for (const name of ${JSON.stringify(names)}) found[name] = Object.keys(await import(name)).sort()
    process.stdout.write(JSON.stringify(found))`
  const printed = execFileSync(process.execPath, ['--input-type=module', '-e', program], {
    cwd: alone,
    encoding: 'utf8',
  })
  expect(JSON.parse(printed)).toEqual({
    '@jeton/sdk': ['JetonError', 'JetonUnavailable', 'createFetch', 'createTokenSource', 'reportRedemption'],
    '@jeton/sdk/guard': ['createGuard', 'responseOf'],
    '@jeton/sdk/express': ['receiveWebhooks', 'requireScope'],
    '@jeton/sdk/fastify': ['jeton'],
    '@jeton/sdk/hono': ['requireScope'],
    '@jeton/sdk/webhooks': [
      'MAX_BODY_BYTES',
      'WebhookVerificationError',
      'createDeliveryHandler',
      'createReceiver',
      'isKind',
      'memorySeenStore',
      'verify',
    ],
    '@jeton/sdk/management': ['JetonError', 'JetonUnavailable', 'Secret', 'createManagement'],
    '@jeton/sdk/testing': ['signed', 'startJeton'],
  })
})

test('without the package jeton, the test server says what to install, and signed() works', () => {
  const program = `
    import { signed, startJeton } from '@jeton/sdk/testing'
    const request = await signed('customer.reward_redemptions.completed', {}, 'whsec_' + 'A'.repeat(44))
    process.stdout.write(request.headers.get('webhook-signature').slice(0, 3))
    await startJeton().catch((error) => process.stdout.write(error.message))`
  const printed = execFileSync(process.execPath, ['--input-type=module', '-e', program], {
    cwd: alone,
    encoding: 'utf8',
  })
  expect(printed).toMatch(/^v1,The package "jeton" is required/)
})

/** Files that an entry loads, as they are shipped. */
function filesOf(entry: string, found = new Set<string>()): Set<string> {
  if (found.has(entry)) return found
  found.add(entry)
  for (const [, path] of readFileSync(entry, 'utf8').matchAll(/from '(\.[^']+)'/g))
    filesOf(join(dirname(entry), path!), found)
  return found
}

test.each(['.', './guard', './webhooks'])('the entry %s is smaller than 5 KB, compressed', (name) => {
  const files = filesOf(join(installed, manifest.exports[name].default))
  const bytes = gzipSync([...files].map((file) => readFileSync(file, 'utf8')).join('\n')).length
  process.stdout.write(`${name}: ${bytes} bytes in ${files.size} files\n`)
  expect(files.size).toBeGreaterThan(1)
  expect(bytes).toBeLessThan(5 * 1024)
})

test('core, guard, webhooks and management use only what every runtime has', () => {
  for (const name of ['.', './guard', './webhooks', './management', './express', './hono', './fastify'])
    for (const file of filesOf(join(installed, manifest.exports[name].default)))
      expect(readFileSync(file, 'utf8'), file).not.toMatch(/from '[^.]|require\(|\bBuffer\b|\bprocess\./)
})

test('publint finds nothing', async () => {
  expect((await publint({ pkgDir: installed, strict: true })).messages).toEqual([])
})

test('@arethetypeswrong finds nothing', () => {
  const cli = join(dirname(require.resolve('@arethetypeswrong/cli/package.json')), 'dist', 'index.js')
  const tarball = readdirSync(join(alone, '..')).find((name) => name.startsWith('jeton-sdk'))!
  const args = [cli, join(alone, '..', tarball), '--profile', 'esm-only', '--format', 'json']
  const { stdout, status } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  expect(JSON.parse(stdout).analysis.problems.filter(isRelevant)).toEqual([])
  expect(status).toBe(0)
})

/** CommonJS and the resolution of TypeScript before Node had `exports` are not supported. */
const isRelevant = ({ resolutionKind }: { resolutionKind?: string }) =>
  resolutionKind !== 'node10' && resolutionKind !== 'node16-cjs'

describe('TypeScript', () => {
  const compiler = join(dirname(require.resolve('typescript/package.json')), 'bin', 'tsc')

  const check = (folder: string, file: string, options: string[]) => {
    cpSync(fileURLToPath(new URL(`./programs/${file}`, import.meta.url)), join(folder, file))
    const args = [compiler, '--noEmit', '--strict', '--target', 'es2022', ...options, join(folder, file)]
    return spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' }).stdout
  }

  const resolutions = [
    ['node16', ['--module', 'node16', '--moduleResolution', 'node16']],
    ['bundler', ['--module', 'esnext', '--moduleResolution', 'bundler']],
  ] as const

  test.each(resolutions)('with moduleResolution %s every entry has its types', (_, options) => {
    expect(check(project, 'use.ts', [...options, '--types', 'node'])).toBe('')
  })

  test.each(resolutions)(
    'with moduleResolution %s the SDK alone needs no other types than those of the web',
    (_, options) => {
      expect(check(alone, 'use-alone.ts', [...options, '--types', '', '--lib', 'es2022,dom'])).toBe('')
    },
  )

  test('wrong uses do not compile', () => {
    const wrong = {
      "import { createGuard } from '@jeton/sdk/guard'\ncreateGuard({ baseUrl: 'http://x' })\n": 'projectId',
      "import { createTokenSource } from '@jeton/sdk'\ncreateTokenSource({ baseUrl: 'http://x', key: { appId: 'a', appToken: 'b' }, scope: ['reward'] })\n":
        'reward',
      "import { createReceiver } from '@jeton/sdk/webhooks'\ncreateReceiver({ secret: 'x', on: {} })\n":
        'seen',
      "import { createFetch, type TokenSource } from '@jeton/sdk'\ncreateFetch({} as TokenSource, {})\n":
        'baseUrl',
      "import { JetonError } from '@jeton/sdk'\nJetonError.is(1, 'no_such_key')\n": 'no_such_key',
    }
    const files = Object.keys(wrong).map((text, index) => {
      writeFileSync(join(project, `wrong-${index}.ts`), text)
      return `wrong-${index}.ts`
    })
    const args = [
      compiler,
      '--noEmit',
      '--strict',
      '--target',
      'es2022',
      '--module',
      'node16',
      '--types',
      'node',
      ...files,
    ]
    const { stdout } = spawnSync(process.execPath, args, { cwd: project, encoding: 'utf8' })
    for (const [index, named] of Object.values(wrong).entries())
      expect(stdout).toMatch(new RegExp(`^wrong-${index}\\.ts.*error TS(?:.|\\n {2})*${named}`, 'm'))
  })
})
