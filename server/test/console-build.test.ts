import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'

const SCRIPT = fileURLToPath(new URL('../../console/scripts/build.js', import.meta.url))

test('where Vite is missing, as after npm ci --omit=dev, the build of the console is skipped with one sentence', () => {
  const folder = mkdtempSync(join(tmpdir(), 'jeton-console-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  mkdirSync(join(folder, 'scripts'))
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  copyFileSync(SCRIPT, join(folder, 'scripts/build.js'))
  const printed = execFileSync(process.execPath, [join(folder, 'scripts/build.js')], { encoding: 'utf8' })
  expect(printed).toBe('The console was not built, because Vite is not installed. To build it: npm ci\n')
})
