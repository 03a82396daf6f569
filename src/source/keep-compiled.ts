import { existsSync } from 'node:fs'
import { enableCompileCache } from 'node:module'
import { join } from 'node:path'
import { dataFolder } from './data-folder.ts'

/**
 * Has Node keep what it makes of the code that is loaded from here on, so that the next process starts in half the time. It is kept in the data folder, once
 * there is one: whoever can change it there can have anything run, and may read the keys already. Never throws.
 */
export function keepCompiled(): void {
  const folder = dataFolder()
  // NODE_COMPILE_CACHE names another folder, NODE_DISABLE_COMPILE_CACHE says none; Node knows both.
  if (existsSync(folder)) enableCompileCache(join(folder, 'cache'))
}
