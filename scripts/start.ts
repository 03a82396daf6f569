/** What `npm start` does: builds the console if that is needed, and serves it with everything behind it. */
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { isConsoleStale } from './stale-console.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

if (isConsoleStale(root)) {
  process.stdout.write('Building the console, once …\n')
  const { build } = await import('vite')
  await build({
    configFile: fileURLToPath(new URL('../console/vite.config.ts', import.meta.url)),
    logLevel: 'error',
  })
  if (!existsSync(new URL('../dist/console/index.html', import.meta.url)))
    throw new Error('the console was not built')
}

process.argv.splice(2, 0, 'serve')
await import(new URL('../bin/lockstep.js', import.meta.url).href)
