/**
 * `npm run test:faults`: faults and hostile input alone, in the short form of the gate or in a longer one. The run ends
 * with a table of the faults, the writes that were acknowledged and those that were lost.
 *
 *     npm run test:faults                                   short
 *     npm run test:faults -- --long                         two minutes of each fault, 120,000 hostile requests
 *     npm run test:faults -- --long --minutes 10 --requests 500000
 *     npm run test:faults -- --seed 7 kill fuzz             only files whose names start with these words
 */
import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    long: { type: 'boolean', default: false },
    minutes: { type: 'string' },
    requests: { type: 'string' },
    seed: { type: 'string' },
  },
})

const root = fileURLToPath(new URL('../../../', import.meta.url))
const vitest = join(dirname(createRequire(import.meta.url).resolve('vitest/package.json')), 'vitest.mjs')
const folders = ['server/test/faults/', 'server/test/fuzz/']
const files = positionals.length > 0 ? folders.flatMap((at) => positionals.map((name) => at + name)) : folders
const projects = ['--project', 'faults', '--project', 'fuzz']

const child = spawn(process.execPath, [vitest, 'run', ...projects, ...files], {
  cwd: root,
  stdio: 'inherit',
  env: {
    ...process.env,
    ...(values.long && { FAULTS_LONG: 'on' }),
    ...(values.minutes && { FAULTS_MINUTES: values.minutes }),
    ...(values.requests && { FAULTS_REQUESTS: values.requests }),
    ...(values.seed && { TEST_SEED: values.seed }),
  },
})
child.once('exit', (code) => process.exit(code ?? 1))
