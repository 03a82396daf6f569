import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from './package-root.ts'

/** Where the built console lies, in a checkout as in the published package; null if it is not built. */
export function consoleFolder(): string | null {
  const folder = join(packageRoot(), 'dist', 'console')
  return existsSync(join(folder, 'index.html')) ? folder : null
}
