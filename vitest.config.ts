import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    pool: 'forks',
    maxWorkers: 2,
    // Loading the product for each file again took a third of the time; no test changes what is global.
    isolate: false,
    // Ends what hangs; how fast a machine is must not decide a test.
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
})
