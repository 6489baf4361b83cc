/** Writes the files that are generated from the code. With `--check` it only lists outdated files, and fails. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { describeConsoleApi } from '../../console/scripts/describe-api.ts'
import type { ApiDocument } from '../src/cli/operations.ts'
import { EVENT_SCHEMAS, schemaText } from '../src/features/events/index.ts'
import { documentSettings } from '../src/platform/config/index.ts'
import { describeDashboard } from './dashboard/describe-dashboard.ts'
import { ROWS } from './dashboard/panels.ts'
import { describeApi } from './describe-api.ts'

import { documentCommands } from './document-commands.ts'
import { documentErrors } from './document-errors.ts'
import { documentMetrics } from './document-metrics.ts'
import { documentScopes } from './document-scopes.ts'
import { generateSdk } from './sdk/generate-sdk.ts'

const root = new URL('../../', import.meta.url)
const api = await describeApi()
const generated: Record<string, string> = {
  'docs/reference/settings.md': documentSettings(),
  'docs/reference/errors.md': documentErrors(),
  'docs/reference/scopes.md': documentScopes(),
  'docs/reference/metrics.md': documentMetrics(
    readFileSync(new URL('deploy/prometheus/alerts.yaml', root), 'utf8'),
  ),
  'deploy/grafana/jeton.json': `${JSON.stringify(describeDashboard(ROWS), null, 2)}\n`,
  'docs/reference/cli.md': documentCommands(api as unknown as ApiDocument),
  ...Object.fromEntries(EVENT_SCHEMAS.map((one) => [`docs/events/${one.file}`, schemaText(one)])),
  'console/src/api/schema.ts': await describeConsoleApi(api as never),
  'server/openapi.json': `${JSON.stringify(api, null, 1)}\n`,
  ...generateSdk(JSON.parse(JSON.stringify(api))),
}

const checking = process.argv.includes('--check')
let drifted = 0
for (const [path, text] of Object.entries(generated)) {
  const file = new URL(path, root)
  if (existsSync(file) && readFileSync(file, 'utf8') === text) continue
  drifted++
  if (!checking) {
    mkdirSync(new URL('.', file), { recursive: true })
    writeFileSync(file, text)
  }
  process.stdout.write(`${path} ${checking ? 'is out of date. Run: npm run generate' : 'written'}\n`)
}
process.exit(checking && drifted > 0 ? 1 : 0)
