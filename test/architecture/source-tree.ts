import { readdirSync, readFileSync } from 'node:fs'
import { join, sep } from 'node:path'

/** The text of each file of a source folder, by its path with forward slashes. */
export type SourceTree = ReadonlyMap<string, string>

/** Reads every file below the folder; an unreadable or missing folder throws, for an empty answer would look clean. */
export function readSourceTree(folder: string): SourceTree {
  const tree = new Map<string, string>()
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isDirectory()) continue
    const path = join(entry.parentPath, entry.name)
    tree.set(path.slice(folder.length + 1).replaceAll(sep, '/'), readFileSync(path, 'utf8'))
  }
  return tree
}

/** The folder under src/ that a file belongs to; a file directly under src/ stands for itself. */
export function folderOf(file: string): string {
  return (file.includes('/') ? file.slice(0, file.indexOf('/')) : file).replace(testSuffix, '.ts')
}

/** The implementation a file belongs to, such as `engine/embedded`; null for the contract and everything else. */
export function backendOf(file: string, backends: readonly string[]): string | null {
  const [folder = '', name = '', inside] = file.split('/')
  return inside !== undefined && backends.includes(folder) ? `${folder}/${name}` : null
}

/** Tests and contract suites stay out of the package, so they may use any folder, the platform and development packages. */
export function isTest(file: string): boolean {
  return testSuffix.test(file)
}

const testSuffix = /\.(?:test|suite)\.ts$/
