// The verifier's page in a real Chromium. run.sh runs it, where one is.
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/e2e/browser/*.browser.ts'],
    globalSetup: ['test/support/build-once.ts'],
    fileParallelism: false,
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
})
