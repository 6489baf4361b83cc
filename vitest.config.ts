import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['server/src/**/*.test.ts', 'server/test/**/*.test.ts'],
    globalSetup: ['server/test/global-setup.ts'],
    // Processes, not threads: tests start threads and child processes of their own, as the service does.
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 20_000,
    hookTimeout: 60_000,
  },
})
