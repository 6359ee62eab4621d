// Tests against a real Prometheus, which `npm test` does not have: run.sh runs these where it is installed.
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/e2e/prometheus/*.prom.ts'],
    globalSetup: ['test/support/build-once.ts'],
    fileParallelism: false,
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
})
