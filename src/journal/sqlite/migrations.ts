import type { DatabaseSync } from 'node:sqlite'
import { LockstepError } from '../../shared/lockstep-error.ts'

/** The steps from an empty file to the newest form, in order. A step that was released is never changed. */
const migrations: readonly string[] = [
  `CREATE TABLE chains (
     id INTEGER PRIMARY KEY,
     name TEXT NOT NULL UNIQUE,
     tenant TEXT NOT NULL,
     number INTEGER NOT NULL,
     wrapped_by TEXT,
     wrapped_key BLOB
   ) STRICT;
   CREATE INDEX chains_by_tenant ON chains (tenant, number);
   CREATE TABLE entries (
     position INTEGER PRIMARY KEY AUTOINCREMENT,
     chain INTEGER NOT NULL REFERENCES chains (id),
     seq INTEGER NOT NULL,
     at REAL NOT NULL,
     principal TEXT NOT NULL,
     type TEXT NOT NULL,
     payload BLOB NOT NULL,
     hash BLOB NOT NULL,
     mac BLOB NOT NULL,
     mac_key TEXT NOT NULL,
     UNIQUE (chain, seq)
   ) STRICT;
   CREATE TRIGGER entries_are_not_changed BEFORE UPDATE ON entries
     BEGIN SELECT RAISE(ABORT, 'entries are never changed'); END;
   CREATE TRIGGER entries_are_not_removed BEFORE DELETE ON entries
     BEGIN SELECT RAISE(ABORT, 'entries are never removed'); END;
   CREATE TABLE payloads (position INTEGER PRIMARY KEY, body BLOB NOT NULL) STRICT;
   CREATE TABLE checkpoints (id INTEGER PRIMARY KEY, body TEXT NOT NULL) STRICT;
   CREATE TABLE checkpoint_chains (
     chain INTEGER NOT NULL REFERENCES chains (id),
     checkpoint INTEGER NOT NULL REFERENCES checkpoints (id),
     PRIMARY KEY (chain, checkpoint)
   ) STRICT, WITHOUT ROWID;
   CREATE TABLE documents (digest TEXT PRIMARY KEY, text TEXT NOT NULL) STRICT;`,
  `CREATE TABLE leases (run TEXT PRIMARY KEY, epoch INTEGER NOT NULL) STRICT, WITHOUT ROWID;
   CREATE TABLE counters (
     tenant TEXT NOT NULL, key TEXT NOT NULL, amount INTEGER NOT NULL, PRIMARY KEY (tenant, key)
   ) STRICT, WITHOUT ROWID;
   CREATE TABLE locks (
     tenant TEXT NOT NULL, key TEXT NOT NULL, run TEXT NOT NULL, PRIMARY KEY (tenant, key)
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX locks_by_run ON locks (run);`,
  `CREATE TABLE open_runs (run TEXT PRIMARY KEY, holder TEXT) STRICT, WITHOUT ROWID;
   INSERT INTO open_runs (run) SELECT name FROM chains WHERE number > 0 AND NOT EXISTS (
     SELECT 1 FROM entries WHERE entries.chain = chains.id AND entries.type = 'run.finished'
   );`,
  // What is appended together is one row: time and type of each entry as JSON; payload digest, hash and authentication of each, 96 bytes; the payloads.
  `CREATE TABLE batches (
     position INTEGER PRIMARY KEY,
     chain INTEGER NOT NULL REFERENCES chains (id),
     seq INTEGER NOT NULL,
     principal TEXT NOT NULL,
     mac_key TEXT NOT NULL,
     facts TEXT NOT NULL,
     proof BLOB NOT NULL,
     body BLOB,
     UNIQUE (chain, seq)
   ) STRICT;
   INSERT INTO batches (position, chain, seq, principal, mac_key, facts, proof, body)
     SELECT MIN(position), chain, MIN(seq), MIN(principal), MIN(mac_key),
       json_group_array(json_array(at, type) ORDER BY seq),
       unhex(group_concat(hex(payload) || hex(hash) || hex(mac), '' ORDER BY seq)),
       MIN(body)
     FROM (
       SELECT e.*, p.body AS body, COUNT(p.position) OVER (PARTITION BY e.chain ORDER BY e.seq) AS batch
       FROM entries e LEFT JOIN payloads p ON p.position = e.position
     ) GROUP BY chain, batch, principal, mac_key ORDER BY 1;
   DROP TABLE entries;
   DROP TABLE payloads;
   CREATE TRIGGER batches_are_not_changed BEFORE UPDATE OF position, chain, seq, principal, mac_key, facts, proof ON batches
     BEGIN SELECT RAISE(ABORT, 'entries are never changed'); END;
   CREATE TRIGGER payloads_are_only_erased BEFORE UPDATE OF body ON batches WHEN NEW.body IS NOT NULL
     BEGIN SELECT RAISE(ABORT, 'payloads are never changed'); END;
   CREATE TRIGGER batches_are_not_removed BEFORE DELETE ON batches
     BEGIN SELECT RAISE(ABORT, 'entries are never removed'); END;`,
  `CREATE TABLE halts (
     tenant TEXT PRIMARY KEY, principal TEXT NOT NULL, at REAL NOT NULL, reason TEXT NOT NULL
   ) STRICT, WITHOUT ROWID;`,
  // What a call acted on is veiled; `written` is 0 while its place is taken and its admission not written down.
  `CREATE TABLE made_calls (
     run TEXT NOT NULL,
     call TEXT NOT NULL,
     tenant TEXT NOT NULL,
     principal TEXT NOT NULL,
     tool TEXT NOT NULL,
     target TEXT,
     at REAL NOT NULL,
     written INTEGER NOT NULL,
     PRIMARY KEY (run, call)
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX made_calls_by_time ON made_calls (tenant, at, tool, principal, target);
   CREATE TABLE spendings (tenant TEXT NOT NULL, at REAL NOT NULL, tokens INTEGER NOT NULL, cost REAL) STRICT;
   CREATE INDEX spendings_by_time ON spendings (tenant, at, tokens, cost);`,
  // Where the administrative entries of a tenant's chain are, and what proves who somebody is: encrypted, and no part of any chain.
  `CREATE TABLE acts (
     chain INTEGER NOT NULL REFERENCES chains (id), seq INTEGER NOT NULL, PRIMARY KEY (chain, seq)
   ) STRICT, WITHOUT ROWID;
   INSERT INTO acts (chain, seq)
     SELECT b.chain, b.seq + CAST(f.key AS INTEGER)
     FROM chains c JOIN batches b ON b.chain = c.id, json_each(b.facts) f
     WHERE c.number = 0 AND json_extract(f.value, '$[1]') NOT IN ('run.opened', 'run.closed');
   CREATE TABLE credentials (
     id TEXT PRIMARY KEY, tenant TEXT NOT NULL, kind TEXT NOT NULL, wrapped_by TEXT NOT NULL, body BLOB NOT NULL
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX credentials_by_kind ON credentials (kind);`,
  // Whoever claimed a run that had ended once listed it as open again, for good.
  `DELETE FROM open_runs WHERE EXISTS (
     SELECT 1 FROM chains c JOIN batches b ON b.chain = c.id, json_each(b.facts) f
     WHERE c.name = open_runs.run AND json_extract(f.value, '$[1]') = 'run.finished'
   );`,
]

/** The newest form of the store. */
export const storeVersion = migrations.length

/**
 * Brings a store to the given form, forwards only, one step a transaction. Throws `journal_unreadable` if a newer Lockstep has
 * written it already.
 */
export function migrate(database: DatabaseSync, path: string, to: number = storeVersion): void {
  database.exec(
    'CREATE TABLE IF NOT EXISTS schema_version (version INTEGER PRIMARY KEY, note TEXT NOT NULL) STRICT',
  )
  for (;;) {
    const version = versionOf(database)
    if (version > to) throw newer(path, version, to)
    if (version === to) return
    database.exec('BEGIN IMMEDIATE')
    try {
      // Another process may have taken the step while this one waited for the lock.
      if (versionOf(database) === version) {
        database.exec(migrations[version]!)
        database
          .prepare('INSERT INTO schema_version (version, note) VALUES (?, ?)')
          .run(version + 1, `from ${version}`)
      }
      database.exec('COMMIT')
    } catch (error) {
      database.exec('ROLLBACK')
      throw error
    }
  }
}

/** The form that a store has. */
export function versionOf(database: DatabaseSync): number {
  const row = database.prepare('SELECT MAX(version) AS version FROM schema_version').get()
  return Number(row?.['version'] ?? 0)
}

function newer(path: string, version: number, known: number): LockstepError {
  return new LockstepError(
    'journal_unreadable',
    `The journal ${path} has form ${version}, and this version of Lockstep knows forms up to ${known}.`,
    { consequence: 'pause', hint: 'Use the newer version of Lockstep that wrote it.' },
  )
}
