import { existsSync, statSync } from 'node:fs'
import { loadSqlite } from '../load-sqlite.ts'
import { storeFailure } from '../store-failure.ts'
import { storeVersion } from './migrations.ts'

/** A store as it lies there. */
export interface StoreLook {
  /** Its form, and the newest one that this Lockstep knows. */
  readonly version: number
  readonly newest: number
  readonly bytes: number
  /** The time of the last entry; null if there is none. */
  readonly lastAt: number | null
}

/** Looks at a store without changing it; null if there is none. Throws `journal_unreadable` for a file that is no store. */
export function lookAtStore(path: string): StoreLook | null {
  if (!existsSync(path)) return null
  const { DatabaseSync } = loadSqlite()
  try {
    const database = new DatabaseSync(path, { readOnly: true, timeout: 5000 })
    try {
      const row = database.prepare('SELECT MAX(version) AS version FROM schema_version').get()
      const version = Number(row?.['version'] ?? 0)
      // Entries have lain in `batches` since the fourth form.
      const last =
        version < 4
          ? undefined
          : database.prepare('SELECT facts FROM batches ORDER BY position DESC LIMIT 1').get()
      const facts = last === undefined ? [] : (JSON.parse(String(last['facts'])) as [number, string][])
      return { version, newest: storeVersion, bytes: storeSize(path), lastAt: facts.at(-1)?.[0] ?? null }
    } finally {
      database.close()
    }
  } catch (error) {
    throw storeFailure(error, path)
  }
}

/** How much a store takes, with what was written last and lies beside it. */
function storeSize(path: string): number {
  return [path, `${path}-wal`].reduce(
    (sum, file) => sum + (statSync(file, { throwIfNoEntry: false })?.size ?? 0),
    0,
  )
}
