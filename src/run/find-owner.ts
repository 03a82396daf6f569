import { ExpressionError } from '../expression/expression-error.ts'
import type { CompiledStep } from '../playbook/compile-playbook.ts'
import type { DenialCode } from './denial-code.ts'
import { isAvailable, isHeldBack, isMet, passedOver } from './order.ts'
import { findOwnerInProgram } from './program/find-owner-in-program.ts'
import { PassedOverView } from './passed-over-view.ts'
import type { Facts } from './request.ts'
import { isComplete, type RunState } from './state.ts'

/** The step a call belongs to (null for an extra that belongs to none), and the optional steps it passes over. */
export interface Owner {
  readonly step: CompiledStep | null
  readonly extra: boolean
  readonly passes: readonly number[]
}

const none: readonly number[] = []
const extraOfNoStep: Owner = { step: null, extra: true, passes: none }

/**
 * Finds the one owner of a call (G4): the earliest unsatisfied open step that expects it, else the latest complete one that
 * still lingers, else a later step that can be reached by passing over optional ones (G3). A code says why there is none.
 */
export function findOwner(
  state: RunState,
  tool: string,
  risk: NonNullable<Facts['risk']> | null = null,
): Owner | DenialCode {
  const { compiled } = state
  if (state.program !== null) return findOwnerInProgram(state, { callId: null, tool, args: null }, risk)
  const expecting = state.shape.stepsByTool.get(tool)
  // What only the runtime calls is nobody else's, and no extra either.
  if (state.shape.reserved.has(tool)) return isComplete(state) ? 'playbook_complete' : 'out_of_sequence'
  if (expecting === undefined) return findOwnerOfExtra(state)

  const open = earliestOpen(state, tool, expecting)
  if (open !== null) return { step: open, extra: false, passes: none }
  for (let at = state.lingering.length - 1; at >= 0; at--) {
    const step = compiled.steps[state.lingering[at]!]!
    if (step.tools.has(tool)) return { step, extra: false, passes: none }
  }
  for (const index of expecting) {
    const step = compiled.steps[index]!
    const passes = reachByPassing(state, step)
    if (passes !== null) return { step, extra: false, passes }
  }
  return whyNone(state, expecting)
}

/** Whom an observed call is credited to although the playbook would have denied it (G13). */
export function naturalOwner(state: RunState, tool: string): Owner {
  const expecting = state.shape.stepsByTool.get(tool)
  if (expecting === undefined) return extraOfNoStep
  const unmet = expecting.find(
    (index) => !isMet(state, index) && state.activations[index]?.status !== 'failed',
  )
  return { step: state.compiled.steps[unmet ?? expecting.at(-1)!]!, extra: false, passes: none }
}

function findOwnerOfExtra(state: RunState): Owner | DenialCode {
  for (const index of state.open) {
    const step = state.compiled.steps[index]!
    if (step.admitsExtras && isAvailable(state, step)) return { step, extra: true, passes: none }
  }
  if (state.compiled.playbook.allowExtraTools) return extraOfNoStep
  return isComplete(state) ? 'playbook_complete' : 'unexpected_tool'
}

function earliestOpen(state: RunState, tool: string, expecting: readonly number[]): CompiledStep | null {
  // Both lists are in order, so the shorter one finds the same step sooner.
  const byTool = expecting.length <= state.open.length
  for (const index of byTool ? expecting : state.open) {
    const step = state.compiled.steps[index]!
    if (!byTool && !step.tools.has(tool)) continue
    if (byTool && state.activations[index]?.phase !== 'open') continue
    if (isAvailable(state, step)) return step
  }
  return null
}

/** The optional steps that must be passed over to reach a step whose turn has not come; null if it cannot be reached so. */
export function reachByPassing(state: RunState, step: CompiledStep): readonly number[] | null {
  const activation = state.activations[step.index]
  if (activation !== undefined && activation.phase !== 'waiting') return null
  if (isHeldBack(state, step.index)) return null
  const passes = passedOver(state, step)
  if (passes === null || passes.length === 0) return null
  if (step.when === null) return passes
  const value = step.when.evaluate([state.inputs, new PassedOverView(state, passes)], state.past)
  return value instanceof ExpressionError || value !== true ? null : passes
}

function whyNone(state: RunState, expecting: readonly number[]): DenialCode {
  if (isComplete(state)) return 'playbook_complete'
  const ahead = expecting.some((index) => {
    const phase = state.activations[index]?.phase ?? 'waiting'
    return phase === 'waiting' || phase === 'open'
  })
  if (ahead) return 'out_of_sequence'
  const spent = expecting.some((index) => {
    const { cap } = state.compiled.steps[index]!
    const activation = state.activations[index]!
    return activation.status === 'completed' && cap !== null && activation.used >= cap
  })
  return spent ? 'max_tool_calls' : 'step_closed'
}
