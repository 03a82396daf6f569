import { compilePlaybook } from '../playbook/compile-playbook.ts'
import type { Playbook } from '../playbook/playbook.ts'
import { readKeptPlaybook } from '../playbook/read-kept-playbook.ts'
import { escapeControl } from '../shared/escape-control.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import { openPlaybook } from './open-playbook.ts'
import type { RunStart } from './run-start.ts'
import type { Terminal } from './terminal.ts'

/**
 * The playbook that a run was begun with: a step added or a rule loosened halfway would make its record prove nothing. The file, where it still says the
 * same, else the text that was kept with the record, and that is told. Without a digest, whatever the file says; null after showing what is wrong with it.
 * Throws `playbook_mismatch` where neither is there.
 */
export async function openPinnedPlaybook(
  { playbook: file, config }: Pick<RunStart, 'playbook' | 'config'>,
  digest: string | null,
  kept: (digest: string) => Promise<string | null>,
  terminal: Terminal,
): Promise<Playbook | null> {
  if (digest === null) return await openPlaybook(file, config ?? undefined, terminal)
  const quiet = { ...terminal, out: () => undefined, err: () => undefined }
  const found = await openPlaybook(file, config ?? undefined, quiet).catch(() => null)
  if (found !== null && compilePlaybook(found).digest === digest) return found
  const text = await kept(digest)
  const recorded = text === null ? null : readKeptPlaybook(text)
  if (recorded === null || compilePlaybook(recorded).digest !== digest) {
    throw new LockstepError(
      'playbook_mismatch',
      `${file} was changed since the run was begun, and the text it was begun with was not kept.`,
      { hint: 'restore the file as it was, or begin a new run' },
    )
  }
  const how = found === null ? 'cannot be used any more' : 'was changed since the run was begun'
  terminal.err(`lockstep: ${escapeControl(file)} ${how}; the run keeps the playbook it was begun with\n`)
  return recorded
}
