import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    pool: 'forks',
    maxWorkers: 2,
    // Loading the product for each file again took a third of the time; no test changes what is global.
    isolate: false,
    testTimeout: 20_000,
    hookTimeout: 30_000,
  },
})
