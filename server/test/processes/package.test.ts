import { execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
let folder: string
let installed: string

/** As npm would install it, but with the dependencies of the checkout: a test talks to no registry. */
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'jeton-package-'))
  execFileSync('npm', ['pack', '-w', 'server', '--pack-destination', folder], { cwd: ROOT, stdio: 'pipe' })
  const tarball = readdirSync(folder).find((name) => name.endsWith('.tgz'))!
  installed = join(folder, 'node_modules', 'jeton')
  mkdirSync(installed, { recursive: true })
  execFileSync('tar', ['-xzf', join(folder, tarball), '-C', installed, '--strip-components=1'])
  const { dependencies } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'))
  for (const name of Object.keys(dependencies)) {
    mkdirSync(dirname(join(folder, 'node_modules', name)), { recursive: true })
    const places = [join(ROOT, 'server', 'node_modules', name), join(ROOT, 'node_modules', name)]
    symlinkSync(places.find((place) => existsSync(place))!, join(folder, 'node_modules', name))
  }
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('the package contains compiled code, its documents and nothing else', () => {
  expect(readdirSync(installed).sort()).toEqual([
    'LICENSE',
    'README.md',
    'bin',
    'console',
    'dist',
    'docs',
    'openapi.json',
    'package.json',
  ])
  const files = readdirSync(join(installed, 'dist'), { recursive: true, encoding: 'utf8' })
  expect(files.filter((file) => file.endsWith('.ts') || file.includes('.test.'))).toEqual([])
})

test('the package contains the built console with the licences of the packages in it', () => {
  expect(readdirSync(join(installed, 'console')).sort()).toEqual([
    'assets',
    'index.html',
    'third-party-licences.md',
  ])
  const licences = readFileSync(join(installed, 'console', 'third-party-licences.md'), 'utf8')
  for (const name of ['react', 'react-dom', 'react-aria-components', '@tanstack/react-query', 'uplot'])
    expect(licences, name).toContain(`## ${name}`)
})

test('packing does not change the checkout', () => {
  for (const made of ['dist', 'docs', 'console', 'README.md', 'LICENSE'])
    expect(existsSync(join(ROOT, 'server', made))).toBe(false)
})

test('the package starts in an empty folder, serves the console and issues a token', async () => {
  const env = {
    ...process.env,
    JETON_PORT: '0',
    JETON_DATA_DIR: join(folder, 'data'),
    XDG_CONFIG_HOME: join(folder, 'config'),
  }
  const child = spawn(process.execPath, [join(installed, 'bin', 'jeton.js'), 'serve'], { cwd: folder, env })
  let printed = ''
  child.stderr.on('data', (chunk) => (printed += chunk))
  await new Promise<void>((resolve, reject) => {
    child.on('exit', () => reject(new Error(`it ended: ${printed}`)))
    child.stdout.on('data', (chunk) => {
      printed += chunk
      if (printed.includes('Ctrl-C')) resolve()
    })
  })
  const [url] = /http:\/\/127\.0\.0\.1:\d+/.exec(printed)!
  const page = await (await fetch(`${url}/console/`)).text()
  const assets = Array.from(page.matchAll(/\/console\/assets\/[\w.-]+/g), ([path]) => path)
  expect(assets.length).toBeGreaterThan(1)
  for (const path of assets) expect([path, (await fetch(url + path)).status]).toEqual([path, 200])
  const curl = printed.slice(
    printed.indexOf('curl'),
    printed.indexOf('loyalties rewards"') + 'loyalties rewards"'.length,
  )
  const answer = execFileSync('sh', ['-c', curl], { encoding: 'utf8' })
  expect(JSON.parse(answer)).toMatchObject({ expires_in: 900, scope: 'loyalties rewards' })
  child.removeAllListeners('exit')
  child.kill()
  await new Promise((resolve) => child.once('exit', resolve))
})
