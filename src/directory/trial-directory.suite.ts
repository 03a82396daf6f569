import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openKeyRing } from '../journal/chain-keys.ts'
import { SqliteJournal } from '../journal/sqlite/sqlite-journal.ts'
import type { Directory, DirectorySettings } from './directory.ts'
import { openDirectory, type FirstLink } from './open-directory.ts'
import type { Actor } from './principal.ts'

/** A clock that tests set. */
export interface TrialClock {
  at: number
  readonly now: () => number
}

/** A directory over a real store, with a clock of its own. */
export interface Trial {
  readonly store: SqliteJournal
  readonly directory: Directory
  readonly firstLinks: readonly FirstLink[]
  readonly clock: TrialClock
  /** The first Admin, as one who acts. */
  readonly admin: Actor
  /** Opens the same store once more, as another process or a restart does. */
  reopen(): ReturnType<typeof openDirectory>
}

const opened: (() => Promise<void>)[] = []

/** Closes what was opened; call after the tests of a file. */
export async function closeTrials(): Promise<void> {
  for (const close of opened.splice(0)) await close()
}

/** Opens a directory over an empty store; `closeTrials` closes and removes it. */
export async function openTrial(settings: DirectorySettings = {}): Promise<Trial> {
  const folder = mkdtempSync(join(tmpdir(), 'lockstep-directory-'))
  const store = new SqliteJournal(join(folder, 'journal.db'), openKeyRing(join(folder, 'keys')))
  opened.push(async () => {
    await store.close()
    rmSync(folder, { recursive: true, force: true })
  })
  const clock: TrialClock = { at: Date.UTC(2026, 10, 16), now: () => clock.at }
  const reopen = async () =>
    await openDirectory({ store, now: clock.now, passwordCost: { N: 16, r: 8, p: 1 }, ...settings })
  const { directory, firstLinks } = await reopen()
  const { id, email } = directory.people.byEmail('local', 'admin@local')!
  return {
    store,
    directory,
    firstLinks,
    clock,
    admin: { tenant: 'local', principal: email, user: id },
    reopen,
  }
}
