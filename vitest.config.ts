import { defineConfig } from 'vitest/config'

// Fault tests start real processes; two at a time keeps a 2-core machine honest about what a timeout means.
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/build-once.ts'],
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 120_000,
  },
})
