import { readdirSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { nearestName } from '../shared/nearest-name.ts'

/** The path of the file or folder beside a missing one whose name comes closest to it; null if none is close, or nobody can look. */
export function nearestFile(path: string): string | null {
  try {
    const name = nearestName(basename(path), readdirSync(dirname(path)))
    if (name === null) return null
    return dirname(path) === '.' && !path.startsWith('.') ? name : join(dirname(path), name)
  } catch {
    return null
  }
}
