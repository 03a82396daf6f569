import { closeSync, mkdirSync, openSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { loadSqlite } from '../journal/load-sqlite.ts'

/** The form of the views. What has another one is thrown away and made anew, so that no form is ever brought to the next. */
export const viewsVersion = 3

/**
 * `n` is the time of the beginning in milliseconds, times a thousand, plus a number among those of the same moment. The order of rows is then the order of
 * time, each index ends with it, and a page of a list is read from one place of one index.
 */
const schema = `
  CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE runs (
    n INTEGER PRIMARY KEY,
    run TEXT NOT NULL UNIQUE,
    tenant TEXT NOT NULL,
    project TEXT NOT NULL,
    runbook TEXT NOT NULL,
    runbook_name TEXT,
    runbook_version INTEGER,
    name TEXT NOT NULL,
    playbook TEXT,
    digest TEXT,
    mode TEXT NOT NULL,
    status TEXT NOT NULL,
    reason TEXT,
    ended_at REAL,
    last_at REAL NOT NULL,
    started_at REAL NOT NULL,
    started_by TEXT NOT NULL,
    model TEXT,
    calls INTEGER NOT NULL,
    denied INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    cost REAL,
    waiting INTEGER NOT NULL,
    parent TEXT NOT NULL,
    entries INTEGER NOT NULL,
    sent TEXT NOT NULL
  ) STRICT;
  CREATE INDEX runs_all ON runs (tenant, parent);
  CREATE INDEX runs_by_status ON runs (tenant, parent, status);
  CREATE INDEX runs_by_project ON runs (tenant, parent, project);
  CREATE INDEX runs_by_runbook ON runs (tenant, parent, runbook);
  CREATE INDEX runs_by_name ON runs (tenant, parent, name);
  CREATE INDEX runs_by_mode ON runs (tenant, parent, mode);
  CREATE INDEX runs_by_starter ON runs (tenant, parent, started_by);
  CREATE INDEX runs_by_project_status ON runs (tenant, parent, project, status);
  CREATE INDEX runs_by_runbook_status ON runs (tenant, parent, runbook, status);
  CREATE INDEX runs_by_name_status ON runs (tenant, parent, name, status);
  CREATE INDEX runs_by_starter_status ON runs (tenant, parent, started_by, status);
  CREATE VIRTUAL TABLE run_words USING fts5 (
    tenant, words, content = '', contentless_delete = 1, detail = column, prefix = '2 3 4 5 6 7 8 9 10'
  );
  CREATE TABLE approvals (
    n INTEGER PRIMARY KEY,
    id TEXT NOT NULL,
    run TEXT NOT NULL,
    call TEXT NOT NULL,
    tenant TEXT NOT NULL,
    project TEXT NOT NULL,
    playbook TEXT,
    tool TEXT NOT NULL,
    step TEXT,
    state TEXT NOT NULL,
    decided INTEGER NOT NULL,
    asked_at REAL NOT NULL,
    asked_by TEXT NOT NULL,
    expires_at REAL NOT NULL,
    reason TEXT NOT NULL,
    UNIQUE (run, call)
  ) STRICT;
  CREATE INDEX approvals_by_id ON approvals (tenant, id);
  CREATE INDEX approvals_all ON approvals (tenant);
  CREATE INDEX approvals_by_decided ON approvals (tenant, decided);
  CREATE INDEX approvals_by_project ON approvals (tenant, project);
  CREATE INDEX approvals_by_project_decided ON approvals (tenant, project, decided);
  CREATE INDEX approvals_waiting ON approvals (expires_at) WHERE state IN ('waiting', 'granted');`

/** Opens the views, and makes them anew where there are none of this form, or they cannot be read. They are worth nothing: a power failure may spoil them. */
export function openViews(path: string): DatabaseSync {
  try {
    return open(path)
  } catch {
    if (path !== ':memory:') for (const end of ['', '-wal', '-shm']) rmSync(`${path}${end}`, { force: true })
    return open(path)
  }
}

function open(path: string): DatabaseSync {
  if (path !== ':memory:') {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    closeSync(openSync(path, 'a', 0o600))
  }
  const { DatabaseSync } = loadSqlite()
  const database = new DatabaseSync(path, { timeout: 5000 })
  try {
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA secure_delete = ON')
    const version = Number(database.prepare('PRAGMA user_version').get()?.['user_version'])
    if (version !== viewsVersion) remake(database)
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

/** Throws everything away, and begins anew. */
export function remake(database: DatabaseSync): void {
  database.exec('BEGIN IMMEDIATE')
  try {
    for (const table of ['meta', 'runs', 'run_words', 'approvals'])
      database.exec(`DROP TABLE IF EXISTS ${table}`)
    database.exec(`${schema}; PRAGMA user_version = ${viewsVersion}`)
    database.exec('COMMIT')
  } catch (error) {
    database.exec('ROLLBACK')
    throw error
  }
}
