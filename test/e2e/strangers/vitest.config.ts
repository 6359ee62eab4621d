// Verifiers that share no code with us. run.sh makes what they need, where Go and Python are, and then runs these.
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/e2e/strangers/*.stranger.ts'],
    globalSetup: ['test/support/build-once.ts'],
    fileParallelism: false,
    testTimeout: 240_000,
    hookTimeout: 120_000,
  },
})
