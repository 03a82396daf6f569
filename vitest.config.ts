import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    reporters: ['default', './test/plain-count-reporter.ts'],
    setupFiles: ['./test/steady-seed.ts'],
    testTimeout: 30_000,
  },
})
