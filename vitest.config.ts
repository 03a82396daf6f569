import { fileURLToPath } from 'node:url'
import { configDefaults, defineConfig } from 'vitest/config'
import { sharingFiles } from './test/sharing-files.ts'

const root = fileURLToPath(new URL('.', import.meta.url))
const include = ['src/**/*.test.ts', 'test/**/*.test.ts', 'console/src/**/*.test.ts']
const sharing = sharingFiles(root, include)

export default defineConfig({
  test: {
    reporters: ['default', './test/plain-count-reporter.ts'],
    setupFiles: ['./test/steady-seed.ts'],
    // Tests start the command line hundreds of times; what Node made of it the first time serves the others.
    env: { NODE_COMPILE_CACHE: `${root}node_modules/.cache/node-compile` },
    // For what hangs. What is only slow may be slow.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 60_000 } },
    // Most of the time goes into processes that are waited for, so no core is kept free.
    maxWorkers: '100%',
    projects: [
      // The longest files are among these, so they come first.
      {
        extends: true,
        test: { name: 'apart', include, exclude: [...configDefaults.exclude, ...sharing] },
      },
      { extends: true, test: { name: 'sharing', include: sharing, isolate: false } },
    ],
  },
})
