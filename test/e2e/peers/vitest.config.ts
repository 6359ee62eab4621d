// Tests against programs of others, which `npm test` does not have: run.sh builds those first, where Go is, and then runs these.
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/e2e/peers/*.peer.ts'],
    globalSetup: ['test/support/build-once.ts'],
    fileParallelism: false,
    testTimeout: 240_000,
    hookTimeout: 240_000,
  },
})
