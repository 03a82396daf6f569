import type { Playbook } from '../playbook/playbook.ts'
import type { AgentHook } from './hook.ts'

/** How a PlaybookEnforcerHook is made. */
export interface PlaybookEnforcerHookOptions {
  readonly playbook: Playbook
  readonly blockViolations?: boolean
  readonly recordViolations?: boolean
}

/**
 * Holds an agent to a playbook, as a hook: `hooks: [new PlaybookEnforcerHook({ playbook })]` says the same as
 * `playbook`. Wherever it stands in the list, the gate judges last, on what the other hooks leave.
 */
export class PlaybookEnforcerHook implements AgentHook {
  readonly name = 'PlaybookEnforcer'
  readonly playbook: Playbook
  readonly blockViolations: boolean
  readonly recordViolations: boolean

  constructor(options: PlaybookEnforcerHookOptions) {
    this.playbook = options.playbook
    this.blockViolations = options.blockViolations ?? true
    this.recordViolations = options.recordViolations ?? true
  }
}
