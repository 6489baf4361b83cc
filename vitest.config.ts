import { enableCompileCache } from 'node:module'
import { defineConfig } from 'vitest/config'

// As the binary does it: processes and threads that tests start, hundreds of them, need not strip the types again.
process.env.NODE_COMPILE_CACHE ||= enableCompileCache().directory ?? ''

/** OAuth and the gateway end to end: run with the fast path on both engines, and without it on one of them. */
const HOT_ROUTES = 'gateway|introspection|limits|oauth*|one-answer|proxies|stop|token-life|token-model'

export default defineConfig({
  test: {
    globalSetup: ['server/test/global-setup.ts'],
    // Processes, not threads: tests start threads and child processes of their own, as the service does.
    pool: 'forks',
    maxWorkers: 2,
    // Only what hangs takes so long. How fast something must be is a matter of the test that promises it, and of no
    // machine that is slow or busy.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 30_000 } },
    projects: [
      {
        extends: true,
        test: { name: 'all', include: ['server/src/**/*.test.ts', 'server/test/**/*.test.ts'] },
      },
      {
        extends: true,
        test: {
          name: 'without fast path',
          include: [`server/test/flows/@(${HOT_ROUTES}).test.ts`],
          env: { JETON_FAST_PATH: 'off', TEST_ENGINE: 'SQLite' },
        },
      },
    ],
  },
})
