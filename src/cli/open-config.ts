import { dirname, resolve } from 'node:path'
import { type Config } from '../source/config.ts'
import { findConfig, loadConfig } from '../source/load-config.ts'

/** The configuration that a command works with: the named one, or the nearest above the working directory; null if there is none. */
export async function openConfig(named: string | undefined): Promise<Config | null> {
  const path = named ?? findConfig(process.cwd())
  return path === null ? null : await loadConfig(path)
}

/** Where the configuration for a playbook lies: the nearest above the working directory, else the nearest above the file; null if there is none. */
export function findConfigFor(file: string): string | null {
  return findConfig(process.cwd()) ?? findConfig(dirname(resolve(file)))
}
