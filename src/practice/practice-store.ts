/**
 * What the practice service remembers, in one SQLite file.
 *
 * Invariants
 * S1  What `change` returned is in the file, so that it survives the death of whoever serves it.
 * S2  Several processes may use one file: a change sees everything that was changed before it.
 */
import { closeSync, openSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import type { JsonObject } from '../shared/json.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import { messageOf } from '../shared/message-of.ts'
import { makeFolder } from '../source/data-folder.ts'
import type { PracticeFault } from './practice-fault.ts'
import { firstWorld, type ThingKind } from './practice-world.ts'

/** Something that was done: every request to write that was carried out, and none that was answered from memory. */
export interface PracticeEffect {
  readonly seq: number
  readonly at: string
  readonly tool: string
  readonly target: string
  readonly key: string | null
  /** False where all was as asked for already. */
  readonly changed: boolean
}

/** What was answered to a request under its key. */
export interface KeptAnswer {
  readonly request: string
  readonly at: string
  readonly body: JsonObject
}

const tables = `
  CREATE TABLE IF NOT EXISTS thing (kind TEXT NOT NULL, id TEXT NOT NULL, body TEXT NOT NULL, PRIMARY KEY (kind, id));
  CREATE TABLE IF NOT EXISTS effect (seq INTEGER PRIMARY KEY AUTOINCREMENT, at TEXT NOT NULL, tool TEXT NOT NULL,
    target TEXT NOT NULL, key TEXT, changed INTEGER NOT NULL);
  CREATE TABLE IF NOT EXISTS answer (key TEXT PRIMARY KEY, request TEXT NOT NULL, at TEXT NOT NULL, body TEXT NOT NULL);
  CREATE TABLE IF NOT EXISTS fault (seq INTEGER PRIMARY KEY AUTOINCREMENT, tool TEXT NOT NULL, kind TEXT NOT NULL, ms INTEGER NOT NULL);
`

/** How SQLite says that a file is broken, or none of its own. */
const [brokenFile, noDatabase] = [11, 26]

/** The memory of the practice service. Throws `practice_unavailable` if its file cannot be used. */
export class PracticeStore {
  readonly #file: string
  readonly #database: DatabaseSync

  constructor(file: string) {
    this.#file = file
    try {
      makeFolder(dirname(file))
      // SQLite gives the files beside it the permissions of this one.
      closeSync(openSync(file, 'a', 0o600))
      const { DatabaseSync } = process.getBuiltinModule('node:sqlite')
      this.#database = new DatabaseSync(file, { timeout: 5000 })
      // What a commit wrote is the system's then, and outlives the process; only a power failure may lose the last of it.
      this.#database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL')
      this.change(() => {
        this.#database.exec(tables)
        const { n } = this.#database.prepare('SELECT count(*) AS n FROM thing').get() as { n: number }
        if (n === 0) this.#fill()
      })
    } catch (error) {
      throw LockstepError.isInstance(error) ? error : this.#unavailable(error)
    }
  }

  /** Puts everything back to its beginning; a file that is no database, or a broken one, is made anew. */
  static reset(file: string): void {
    let store: PracticeStore
    try {
      store = new PracticeStore(file)
    } catch (error) {
      const { errcode } = ((error as Error).cause ?? {}) as { errcode?: unknown }
      if (errcode !== brokenFile && errcode !== noDatabase) throw error
      for (const end of ['', '-wal', '-shm']) rmSync(file + end, { force: true })
      store = new PracticeStore(file)
    }
    try {
      store.reset()
    } finally {
      store.close()
    }
  }

  /** Does several things as one: all of them or, if it throws, none (S1, S2). */
  change<Result>(work: () => Result): Result {
    this.#run('BEGIN IMMEDIATE')
    try {
      const result = work()
      this.#run('COMMIT')
      return result
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK')
      throw error
    }
  }

  find(kind: ThingKind, id: string): JsonObject | null {
    const row = this.#database.prepare('SELECT body FROM thing WHERE kind = ? AND id = ?').get(kind, id)
    return row === undefined ? null : (JSON.parse(row['body'] as string) as JsonObject)
  }

  list(kind: ThingKind): JsonObject[] {
    const rows = this.#database.prepare('SELECT body FROM thing WHERE kind = ? ORDER BY id').all(kind)
    return rows.map((row) => JSON.parse(row['body'] as string) as JsonObject)
  }

  put(kind: ThingKind, id: string, body: JsonObject): void {
    this.#database
      .prepare('INSERT INTO thing VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET body = excluded.body')
      .run(kind, id, JSON.stringify(body))
  }

  addEffect({ tool, target, key, changed }: Omit<PracticeEffect, 'seq' | 'at'>): void {
    this.#database
      .prepare('INSERT INTO effect (at, tool, target, key, changed) VALUES (?, ?, ?, ?, ?)')
      .run(new Date().toISOString(), tool, target, key, changed ? 1 : 0)
  }

  effects(): PracticeEffect[] {
    const rows = this.#database.prepare('SELECT * FROM effect ORDER BY seq').all()
    return rows.map((row) => ({ ...(row as unknown as PracticeEffect), changed: row['changed'] === 1 }))
  }

  keepAnswer(key: string, { request, body }: Omit<KeptAnswer, 'at'>): void {
    this.#database
      .prepare('INSERT INTO answer VALUES (?, ?, ?, ?)')
      .run(key, request, new Date().toISOString(), JSON.stringify(body))
  }

  findAnswer(key: string): KeptAnswer | null {
    const row = this.#database.prepare('SELECT * FROM answer WHERE key = ?').get(key)
    if (row === undefined) return null
    const { request, at, body } = row as { request: string; at: string; body: string }
    return { request, at, body: JSON.parse(body) as JsonObject }
  }

  addFault({ tool, kind, ms }: PracticeFault): void {
    this.#database.prepare('INSERT INTO fault (tool, kind, ms) VALUES (?, ?, ?)').run(tool, kind, ms)
  }

  faults(): PracticeFault[] {
    const rows = this.#database.prepare('SELECT tool, kind, ms FROM fault ORDER BY seq').all()
    return rows.map((row) => ({ ...row }) as unknown as PracticeFault)
  }

  /** Takes the next fault of a tool, which nobody else takes then. */
  takeFault(tool: string): PracticeFault | null {
    const row = this.#database
      .prepare(
        'DELETE FROM fault WHERE seq = (SELECT min(seq) FROM fault WHERE tool = ?) RETURNING tool, kind, ms',
      )
      .get(tool)
    return row === undefined ? null : ({ ...row } as unknown as PracticeFault)
  }

  clearFaults(): void {
    this.#database.exec('DELETE FROM fault')
  }

  /** Everything as it was at first; keys, effects and faults are forgotten. */
  reset(): void {
    this.change(() => {
      this.#database.exec('DELETE FROM thing; DELETE FROM effect; DELETE FROM answer; DELETE FROM fault')
      this.#fill()
    })
  }

  close(): void {
    if (this.#database.isOpen) this.#database.close()
  }

  #fill(): void {
    for (const [kind, id, body] of firstWorld) this.put(kind, id, body)
  }

  #run(sql: string): void {
    try {
      this.#database.exec(sql)
    } catch (error) {
      throw this.#unavailable(error)
    }
  }

  #unavailable(error: unknown): LockstepError {
    const { errcode } = error as { errcode?: unknown }
    const broken = errcode === brokenFile || errcode === noDatabase
    return new LockstepError(
      'practice_unavailable',
      `The practice service cannot use ${this.#file}: ${messageOf(error)}.`,
      {
        hint: broken
          ? 'make it anew: lockstep practice reset'
          : 'set LOCKSTEP_HOME to a folder that can be written',
        cause: error,
      },
    )
  }
}
