import { copyFileSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { DatabaseSync } from 'node:sqlite'
import { loadSqlite } from '../load-sqlite.ts'
import { migrate, storeVersion, versionOf } from './migrations.ts'

/**
 * Opens a store that this user may read and not write, on a read-only medium too, and changes nothing about it. What another process has not yet moved from
 * the log into the file counts. Throws what SQLite throws.
 */
export function openReadOnly(path: string): DatabaseSync {
  return openAsItIs(path) ?? openUnchanging(path) ?? openCopy(path)
}

/** Null where SQLite needs files beside it that cannot be made, and where its form is an older one. */
function openAsItIs(path: string): DatabaseSync | null {
  return tryToOpen(path)
}

/** As a file that nobody changes; only where nothing waits in the log, which is not read then. */
function openUnchanging(path: string): DatabaseSync | null {
  if (sizeOf(`${path}-wal`) > 0) return null
  return tryToOpen(new URL(`${pathToFileURL(resolve(path)).href}?immutable=1`))
}

/** A copy, with what waits in the log, and in the newest form. It is gone from the disk as soon as it is open. */
function openCopy(path: string): DatabaseSync {
  const folder = mkdtempSync(join(tmpdir(), 'lockstep-read-'))
  try {
    const copy = join(folder, 'journal.db')
    copyFileSync(path, copy)
    if (sizeOf(`${path}-wal`) > 0) copyFileSync(`${path}-wal`, `${copy}-wal`)
    const { DatabaseSync } = loadSqlite()
    const database = new DatabaseSync(copy)
    migrate(database, path, storeVersion)
    // Without a log there are no files beside it that would be looked for later.
    database.exec('PRAGMA journal_mode = MEMORY; PRAGMA query_only = ON')
    return database
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function tryToOpen(place: string | URL): DatabaseSync | null {
  const { DatabaseSync } = loadSqlite()
  let database: DatabaseSync | null = null
  try {
    database = new DatabaseSync(place, { readOnly: true })
    if (versionOf(database) === storeVersion) return database
  } catch {
    // Another way may do, and the last one says what is wrong.
  }
  database?.close()
  return null
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}
