import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

// Tests start the command line hundreds of times; what Node made of its sources the first time serves the others.
const compileCache = fileURLToPath(new URL('node_modules/.cache/node-compile', import.meta.url))

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'console/src/**/*.test.ts'],
    reporters: ['default', './test/plain-count-reporter.ts'],
    setupFiles: ['./test/steady-seed.ts'],
    env: { NODE_COMPILE_CACHE: compileCache },
    // For what hangs. What is only slow may be slow.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // Most of the time goes into processes that are waited for, so no core is kept free.
    maxWorkers: '100%',
  },
})
