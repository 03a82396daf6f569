import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** What the console is made of, as paths below the root of the checkout. */
const sources = [
  'console',
  'package-lock.json',
  'src/api',
  'src/client',
  'src/document',
  'src/expression',
  'src/playbook',
  'src/policy',
  'src/shared',
  'schema',
]

/** Whether the console must be built before it is served: it is not there, or one of its sources is younger. */
export function isConsoleStale(root: string): boolean {
  const built = timeOf(join(root, 'dist/console/index.html'))
  return built === 0 || sources.some((source) => newest(join(root, source)) > built)
}

function newest(path: string): number {
  const own = timeOf(path)
  if (own === 0) return 0
  // A folder is as young as what was last added to or removed from it.
  const inside = statSync(path).isDirectory() ? readdirSync(path).map((name) => newest(join(path, name))) : []
  return Math.max(own, ...inside)
}

function timeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
}
