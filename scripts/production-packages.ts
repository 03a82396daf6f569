import { readFileSync } from 'node:fs'
import { join } from 'node:path'

type Locked = {
  readonly dev?: boolean
  readonly optional?: boolean
  readonly peer?: boolean
  readonly link?: boolean
}

/** The installed packages that a user of the library installs too, as the lock file lists them. */
export function productionPackages(root: string): { name: string; path: string }[] {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, Locked & { devOptional?: boolean }>
  }
  return Object.entries(packages)
    .filter(([path, locked]) => path !== '' && !isLeftOut(locked))
    .map(([path]) => {
      const name = path.slice('node_modules/'.length)
      if (name.includes('node_modules/'))
        throw new Error(`${path}: two versions of one package are not provided for`)
      return { name, path: join(root, path) }
    })
}

function isLeftOut(locked: Locked & { devOptional?: boolean }): boolean {
  return [locked.dev, locked.optional, locked.devOptional, locked.peer, locked.link].includes(true)
}
