import { randomInt } from 'node:crypto'
import { enableCompileCache } from 'node:module'
import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { LongestFirst } from './server/test/longest-first.ts'

// Tests start hundreds of processes and threads. As with the binary, they reuse compiled code instead of stripping types again.
process.env.NODE_COMPILE_CACHE ||= enableCompileCache().directory ?? ''
// Read by property tests, the fuzzer and the faults. A given seed repeats a run.
process.env.TEST_SEED ||= String(randomInt(2 ** 31))

/** Tests of the responses of OAuth and the gateway: they run with the fast path on both engines, and without it on SQLite. */
const HOT_ROUTES = 'gateway|introspection|oauth|oauth-bad-input|one-answer|proxies'

/** Empty for both engines. */
const FLOWS = { TEST_ENGINE: process.env.FLOWS_ENGINE ?? '' }
const PROCESSES = { TEST_ENGINE: process.env.PROCESSES_ENGINE ?? '' }

/**
 * Tests of processes, faults and the console that need one engine or take long. They are left out if PROCESSES_ENGINE is the
 * other engine. With TEST_FILES=half every second of them runs, chosen by the seed.
 */
const NEEDS: Readonly<Record<string, readonly string[]>> = {
  SQLite: [
    ...[
      'guides',
      'keyboard-pages',
      'every-page',
      'proxies',
      'dashboards',
      'package',
      'unreachable',
      'readme',
    ],
    ...['keyboard', 'full-disk', 'search', 'serve-options', 'browser', 'loyalty-sample', 'first-start'],
  ],
  // Either engine: long tests of processes.
  '': [
    'start',
    'http-processes',
    'traces',
    'lost-encryption-key',
    'apply-kill',
    'interrupt',
    'usage',
    'tour',
  ],
  PostgreSQL: ['machines', 'postgres', 'network', 'postgres-tls', 'outage', 'pgbouncer'],
}
const half = process.env.TEST_FILES === 'half' ? Number(process.env.TEST_SEED) % 2 : undefined
const exclude = Object.entries(NEEDS).flatMap(([engine, names]) =>
  names
    .filter((_, at) => (engine && (PROCESSES.TEST_ENGINE || engine) !== engine) || at % 2 === half)
    .map((name) => `**/${name}.test.ts`),
)

export default defineConfig({
  test: {
    globalSetup: ['server/test/global-setup.ts'],
    // Processes instead of threads: tests start threads and child processes of their own, as the service does.
    pool: 'forks',
    isolate: false,
    // One more than there are cores, since many tests wait for a process, a socket or a deadline.
    maxWorkers: availableParallelism() + 1,
    sequence: { sequencer: LongestFirst },
    // Only a test that hangs takes this long. A test that promises a duration measures it itself.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 30_000 } },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['server/src/**/*.test.ts', 'server/test/*.test.ts', 'console/src/**/*.test.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'flows',
          include: ['server/test/flows/**/*.test.ts'],
          env: FLOWS,
        },
      },
      {
        extends: true,
        test: { name: 'processes', include: ['server/test/processes/*.test.ts'], exclude, env: PROCESSES },
      },
      {
        extends: true,
        test: { name: 'faults', include: ['server/test/faults/*.test.ts'], exclude, env: PROCESSES },
      },
      {
        extends: true,
        test: {
          name: 'console',
          include: ['console/test/*.test.ts'],
          exclude,
          globalSetup: ['console/test/global-setup.ts'],
          env: PROCESSES,
        },
      },
      { extends: true, test: { name: 'fuzz', include: ['server/test/fuzz/*.test.ts'], env: FLOWS } },
      {
        // Without `extends`: these tests use the packages as they are installed, and need no PostgreSQL.
        test: {
          name: 'sdk',
          include: ['sdk/test/*.test.ts'],
          globalSetup: ['sdk/test/install-packages.ts'],
          pool: 'forks',
          testTimeout: 120_000,
          hookTimeout: 120_000,
          expect: { poll: { timeout: 30_000 } },
        },
      },
      {
        extends: true,
        test: {
          name: 'without fast path',
          include: [`server/test/@(flows|processes)/@(${HOT_ROUTES}).test.ts`],
          env: { JETON_FAST_PATH: 'off', TEST_ENGINE: 'SQLite' },
        },
      },
    ],
  },
})
