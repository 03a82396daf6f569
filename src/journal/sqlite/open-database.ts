import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { loadSqlite } from '../load-sqlite.ts'
import { migrate, storeVersion } from './migrations.ts'
import { openReadOnly } from './open-read-only.ts'
import { storeFailure } from '../store-failure.ts'

/** How a database is opened. */
export interface DatabaseOptions {
  /** The most pages the file may have; SQLite's own limit otherwise. */
  readonly maxPages?: number
  /** The form to bring it to; the newest otherwise. */
  readonly version?: number
  /** Whether one that cannot be written is opened to be read; then whatever would change it is refused as `journal_unwritable`. */
  readonly orReadOnly?: boolean
  /** How long to wait for another process that writes, in milliseconds. */
  readonly patience?: number
}

/** SQLite keeps no order among those who wait: on a slow disk the same one may come last many times. */
const patience = 30_000

/**
 * Opens the file, makes it if there is none, and brings it to the newest form. A commit is on the disk when it returns. Throws
 * `journal_unreadable` for a file that is no store, `journal_unwritable` for one that cannot be written.
 */
export function openDatabase(path: string, options: DatabaseOptions = {}): DatabaseSync {
  let database: DatabaseSync | null = null
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    // SQLite gives the files beside it the permissions of this one.
    closeSync(openSync(path, 'a', 0o600))
    const { DatabaseSync } = loadSqlite()
    database = new DatabaseSync(path, { timeout: options.patience ?? patience })
    database.exec(
      'PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 4000; PRAGMA secure_delete = ON; PRAGMA foreign_keys = ON',
    )
    migrate(database, path, options.version ?? storeVersion)
    if (options.maxPages !== undefined) database.exec(`PRAGMA max_page_count = ${options.maxPages}`)
    return database
  } catch (error) {
    database?.close()
    const failure = asFailure(error)
    if (options.orReadOnly === true && isAboutWriting(failure) && existsSync(path)) return readOnly(path)
    throw storeFailure(failure, path)
  }
}

function readOnly(path: string): DatabaseSync {
  try {
    return openReadOnly(path)
  } catch (error) {
    throw storeFailure(asFailure(error), path)
  }
}

/** Whether SQLite may not write the file, or cannot open it and those beside it. */
function isAboutWriting(failure: unknown): boolean {
  const { errcode } = failure as { readonly errcode?: unknown }
  return typeof errcode === 'number' && [8, 14].includes(errcode & 0xff)
}

/** Errors of the system about the file are told like those of SQLite: it cannot be opened. */
function asFailure(error: unknown): unknown {
  const code = (error as NodeJS.ErrnoException).code
  const ofSystem = typeof code === 'string' && /^E[A-Z]+$/.test(code)
  return ofSystem
    ? Object.assign(new Error((error as Error).message, { cause: error }), { errcode: 14 })
    : error
}
