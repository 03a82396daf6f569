import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The folder of this package, in a checkout as where it is installed: the nearest above with a package.json. */
export function packageRoot(): string {
  const here = fileURLToPath(import.meta.url)
  for (let at = dirname(here); ; at = dirname(at))
    if (existsSync(join(at, 'package.json')) || dirname(at) === at) return at
}
