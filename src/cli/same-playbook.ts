import { compilePlaybook } from '../playbook/compile-playbook.ts'
import type { Playbook } from '../playbook/playbook.ts'
import type { JsonObject } from '../shared/json.ts'
import { LockstepError } from '../shared/lockstep-error.ts'

/**
 * Throws `playbook_mismatch` unless the playbook is the one that a run was begun with: a step added or a rule loosened halfway would
 * make its record prove nothing.
 */
export function assertSamePlaybook(playbook: Playbook, begun: JsonObject, run: string, file: string): void {
  if (compilePlaybook(playbook).digest === begun['playbook']) return
  throw new LockstepError(
    'playbook_mismatch',
    `${file} was changed since run ${run} was begun, and a run keeps the playbook it was begun with.`,
    { hint: 'restore the file as it was, or begin a new run' },
  )
}
