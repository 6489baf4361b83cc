/**
 * `npm run test:faults`: faults and hostile input, in a short form for the gate and a long one by hand, and a table of
 * what was tried and what was lost at the end.
 *
 *     npm run test:faults                                   short
 *     npm run test:faults -- --long                         two minutes of each fault, 120,000 hostile requests
 *     npm run test:faults -- --long --minutes 10 --requests 500000
 *     npm run test:faults -- --seed 7 kill fuzz             only the files whose name has one of these
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { SEED } from './form.ts'
import { readReport } from './report.ts'
import { printTable } from './table.ts'

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
const folder = mkdtempSync(join(tmpdir(), 'jeton-faults-'))
const file = join(folder, 'report.jsonl')
const vitest = join(dirname(createRequire(import.meta.url).resolve('vitest/package.json')), 'vitest.mjs')
const folders = ['server/test/faults/', 'server/test/fuzz/']
const files = positionals.length > 0 ? folders.flatMap((at) => positionals.map((name) => at + name)) : folders

const began = performance.now()
const child = spawn(process.execPath, [vitest, 'run', ...files], {
  cwd: root,
  stdio: 'inherit',
  env: {
    ...process.env,
    FAULTS_REPORT: file,
    ...(values.long && { FAULTS_LONG: 'on' }),
    ...(values.minutes && { FAULTS_MINUTES: values.minutes }),
    ...(values.requests && { FAULTS_REQUESTS: values.requests }),
    ...(values.seed && { FAULTS_SEED: values.seed }),
  },
})
child.once('exit', (code) => {
  const seed = Number(values.seed ?? SEED)
  printTable(readReport(file), { form: values.long ? 'long' : 'short', seed, ms: performance.now() - began })
  rmSync(folder, { recursive: true, force: true })
  process.exit(code ?? 1)
})
