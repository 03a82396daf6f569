import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Diagnostic } from '../document/diagnostic.ts'
import { diagnosticWithoutPlace } from '../document/source-document.ts'
import { playbookSuffixes } from '../source/read-source-file.ts'

/** The files that arguments lead to: those named, and those found in directories, which may turn out to be others. */
export type FoundFiles = {
  readonly named: readonly string[]
  readonly inDirectories: ReadonlyMap<string, readonly string[]>
  readonly problems: readonly Diagnostic[]
}

/** Finds the files to check; directories are walked, except hidden ones, node_modules, links and lock files of playbooks. */
export function findPlaybookFiles(
  paths: readonly string[],
  suffixes: readonly string[] = playbookSuffixes,
): FoundFiles {
  const named: string[] = []
  const inDirectories = new Map<string, readonly string[]>()
  const problems: Diagnostic[] = []
  for (const path of new Set(paths)) {
    if (isDirectory(path)) inDirectories.set(path, walk(path, suffixes, problems))
    else named.push(path)
  }
  return { named, inDirectories, problems }
}

function isDirectory(path: string): boolean {
  // What cannot be looked at is left to the reader of files, which says why.
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
  } catch {
    // A loop of links, say: what it is, reading it will tell, with a message of its own.
    return false
  }
}

function walk(folder: string, suffixes: readonly string[], problems: Diagnostic[]): string[] {
  const files: string[] = []
  const waiting = [folder]
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    try {
      for (const entry of readdirSync(at, { withFileTypes: true })) {
        const path = join(at, entry.name)
        if (entry.isDirectory() && !entry.name.startsWith('.') && entry.name !== 'node_modules')
          waiting.push(path)
        if (!entry.isFile() || isLock(entry.name)) continue
        if (suffixes.some((suffix) => entry.name.toLowerCase().endsWith(suffix))) files.push(path)
      }
    } catch (error) {
      problems.push(
        diagnosticWithoutPlace(
          { code: 'unreadable_file', message: `Failed to read the directory: ${(error as Error).message}` },
          at,
        ),
      )
    }
  }
  return files.sort()
}

/** Whether a file says what calls in words mean: it belongs to the playbook that it is named after. */
function isLock(name: string): boolean {
  return /\.(?:md|pb)\.lock\.yaml$/i.test(name)
}
