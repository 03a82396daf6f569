import { readFileSync } from 'node:fs'
import { join } from 'node:path'

type Locked = {
  readonly dev?: boolean
  readonly optional?: boolean
  readonly peer?: boolean
  readonly link?: boolean
}

/** Where the packages lie that a user of the library installs too, relative to the root, as the lock file lists them. */
export function productionPackages(root: string): string[] {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, Locked & { devOptional?: boolean }>
  }
  return Object.entries(packages)
    .filter(([path, locked]) => path !== '' && !isLeftOut(locked))
    .map(([path]) => path)
}

function isLeftOut(locked: Locked & { devOptional?: boolean }): boolean {
  return [locked.dev, locked.optional, locked.devOptional, locked.peer, locked.link].includes(true)
}
