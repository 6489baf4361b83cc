import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { CONSOLE_RULES } from '../scripts/arrows.ts'
import { brokenArrows } from '../scripts/check-arrows.ts'

const CONSOLE = fileURLToPath(new URL('../../console/src', import.meta.url))
const SOURCES = fileURLToPath(new URL('../src', import.meta.url))

let copy: string
beforeEach(() => {
  copy = mkdtempSync(join(tmpdir(), 'jeton-arrows-'))
  cpSync(SOURCES, copy, { recursive: true })
})
afterEach(() => rmSync(copy, { recursive: true }))

test('the code follows every dependency rule', () => {
  expect(brokenArrows(copy)).toEqual([])
  expect(brokenArrows(CONSOLE, CONSOLE_RULES)).toEqual([])
})

test('a page of the console that imports another page is found', () => {
  mkdirSync(join(copy, 'pages/tokens'), { recursive: true })
  writeFileSync(join(copy, 'pages/tokens/new.tsx'), "import { EventPage } from '../events/event-page.tsx'\n")
  expect(brokenArrows(copy, CONSOLE_RULES).join('\n')).toContain('pages do not import each other')
})

test.each([
  ['contract/new.ts', "import { systemClock } from '../platform/clock.ts'", 'contract/ imports nothing'],
  ['platform/http/new.ts', "import { migrate } from '../database/index.ts'", 'do not import each other'],
  [
    'platform/new.ts',
    "import type { TokenCache } from '../features/tokens/index.ts'",
    'platform/ does not import features',
  ],
  [
    'features/projects/new.ts',
    "import { matchSecret } from '../api-keys/index.ts'",
    'features/projects may import only audit',
  ],
  [
    'features/tokens/new.ts',
    "import { insertApiKey } from '../api-keys/api-key.store.ts'",
    'only through index.ts',
  ],
  [
    'features/tokens/new.ts',
    "const { compose } = await import('../../app/compose.ts')",
    'features do not import app or cli',
  ],
  ['features/tokens/new.ts', "import { sql } from 'kysely'", 'import kysely'],
  [
    'features/tokens/new.ts',
    "import {\n  anything,\n} from './helpers.ts'",
    'no folders or files named util',
  ],
  [
    'features/novelty/new.ts',
    "import { recordChange } from '../audit/index.ts'",
    'every feature is listed with its imports',
  ],
  [
    'platform/http/new.ts',
    "import { parseRequest } from './fast-path/parse-request.ts'",
    'only platform/http/server.ts imports the fast path',
  ],
  ['app/new.ts', "export { run } from '../cli/run.ts'", 'app does not import cli'],
  [
    'contract/scopes.ts',
    "import { ERRORS } from './ids.ts'",
    'cycles are not allowed',
    ['contract/ids.ts', "import './scopes.ts'"],
  ],
] as const)('a forbidden import is found: %s %s', (file, line, says, also: readonly string[] = []) => {
  for (const [path, text] of [[file, line], also])
    if (path) {
      mkdirSync(dirname(join(copy, path)), { recursive: true })
      writeFileSync(join(copy, path), `${text}\n`)
    }
  expect(brokenArrows(copy).join('\n')).toContain(says)
})
