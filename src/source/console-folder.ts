import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** Where the built console lies, in a checkout as in the published package; null if it is not built. */
export function consoleFolder(): string | null {
  const folder = fileURLToPath(new URL('../../dist/console/', import.meta.url))
  return existsSync(`${folder}index.html`) ? folder : null
}
