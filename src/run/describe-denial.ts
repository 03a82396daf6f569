import type { CompiledStep } from '../playbook/compile-playbook.ts'
import type { Activation } from './activation.ts'
import type { DenialCode } from './denial-code.ts'
import { isAvailable } from './order.ts'
import { currentStep, type RunState } from './state.ts'

/**
 * Says in one sentence why a call was refused. The sentence reaches the model, so a step that `disclosure: step` hides is
 * not named before its turn (G10).
 */
export function describeDenial(
  state: RunState,
  tool: string,
  denial: { readonly code: DenialCode; readonly detail: string | null },
): string {
  const { detail } = denial
  const current = currentStep(state)
  const due = current === null ? null : state.compiled.steps[current]!
  switch (denial.code) {
    case 'invalid_tool_name':
      return "The tool's name is not usable: letters, digits, '_', '.', '/' and '-' make a name, 128 at most."
    case 'invalid_arguments':
      return `The call of '${tool}' is not well formed: ${detail}.`
    case 'unknown_tool':
      return `There is no tool '${tool}'.`
    case 'duplicate_call':
      return `The call id '${detail}' was used before: every call needs its own.`
    case 'vetoed':
      return `'${tool}' was vetoed: ${detail}.`
    case 'run_ended':
      return `The run has ended (${state.ended}): nothing more is let through.`
    case 'step_failed':
      return `Step '${firstWith(state, ({ status }) => status === 'failed')?.id}' has failed, so nothing is let through until it is retried.`
    case 'run_cancelled':
      return state.compensation === null
        ? 'The run is being cancelled: nothing more is begun.'
        : 'What the run did is being undone: nothing else is let through.'
    case 'run_paused':
      if (state.suspension !== null) return `The run is paused by ${state.suspension.by}.`
      return `The run waits for a person at step '${firstWith(state, ({ phase }) => phase === 'undecided' || phase === 'escalated')?.id}'.`
    case 'timeout':
      return 'The time for this step is over.'
    case 'outcome_unknown':
      return `Nobody knows whether an earlier '${tool}' (${detail}) took effect, so it is not repeated before that is settled.`
    case 'playbook_complete':
      return `The playbook is complete: '${tool}' comes too late.`
    case 'unexpected_tool':
      if (due?.tools.has(tool) === true)
        return `'${tool}' is not left to a model: only a step that calls it by its name makes it.`
      return due === null
        ? `No step expects '${tool}'.`
        : `Step '${due.id}' does not expect '${tool}'. Expected: ${expected(due)}.`
    case 'out_of_sequence':
      if (detail !== null) return `'${tool}' is not due: ${detail}.`
      return describeSequence(state, tool, due)
    case 'step_closed':
      return `Step '${lastExpecting(state, tool)?.id}' is closed: '${tool}' is over.`
    case 'max_tool_calls': {
      const step = cappedStep(state, tool)
      return `Step '${step?.id}' has used its ${step?.cap === 1 ? 'one call' : `${step?.cap} calls`}.`
    }
    case 'max_extra_calls':
      return `The ${state.compiled.playbook.maxExtraCalls} calls of tools outside the steps are used up.`
    case 'arguments_required':
      return `'${tool}' is bound by a rule on its arguments, and they were not given: ${detail}.`
    case 'argument_rule':
      return `The arguments of '${tool}' break a rule of its step: ${detail}.`
    case 'rule':
      return `'${tool}' breaks a rule: ${detail}.`
    case 'policy':
      return `'${tool}' is against policy: ${detail}.`
    case 'awaiting_approval':
      return `'${tool}' waits for approval: ${detail}.`
    case 'gate_error':
      return `The call could not be judged, so it is refused: ${detail}.`
    case 'unadmitted_call':
      return `'${tool}' was recorded, but the gate had not let it through.`
  }
}

/** The tools a step names, for people. */
export function expected(step: CompiledStep): string {
  const names = [...step.tools, ...(step.admitsExtras ? ['any tool that no step names'] : [])]
  return names.length === 0 ? 'no tool' : names.join(', ')
}

/** Says whether a step may be spoken of: always after its turn came, before it only if its disclosure allows. */
export function isDisclosed(state: RunState, step: CompiledStep): boolean {
  const phase = state.activations[step.index]?.phase ?? 'waiting'
  return step.disclosure === 'outline' || phase !== 'waiting'
}

function describeSequence(state: RunState, tool: string, due: CompiledStep | null): string {
  const owner = state.compiled.stepsByTool
    .get(tool)
    ?.map((index) => state.compiled.steps[index]!)
    .find(
      (step) => (state.activations[step.index]?.phase ?? 'waiting') === 'waiting' || isHeldBack(state, step),
    )
  // In a graph the step that is due need not be the one that is waited for.
  const before =
    owner === undefined ? undefined : state.open.find((index) => state.compiled.precedes(index, owner.index))
  const blocking = before === undefined ? due : state.compiled.steps[before]!
  const first = blocking === null ? 'another step' : `step '${blocking.id}'`
  if (owner === undefined || !isDisclosed(state, owner))
    return `'${tool}' is not allowed now: ${first} comes first.`
  return `'${tool}' belongs to step '${owner.id}', and ${first} comes first.`
}

function isHeldBack(state: RunState, step: CompiledStep): boolean {
  return state.activations[step.index]?.phase === 'open' && !isAvailable(state, step)
}

/** The first required step, or waiting one, that stands so. */
function firstWith(state: RunState, test: (activation: Activation) => boolean): CompiledStep | undefined {
  return state.compiled.steps.find((step) => {
    const activation = state.activations[step.index]
    return activation !== undefined && test(activation) && (step.required || activation.status !== 'failed')
  })
}

function lastExpecting(state: RunState, tool: string): CompiledStep | undefined {
  const index = state.compiled.stepsByTool.get(tool)?.at(-1)
  return index === undefined ? undefined : state.compiled.steps[index]
}

function cappedStep(state: RunState, tool: string): CompiledStep | undefined {
  const spent = (step: CompiledStep) =>
    step.cap !== null && (state.activations[step.index]?.used ?? 0) >= step.cap
  const named = state.compiled.stepsByTool.get(tool)?.map((index) => state.compiled.steps[index]!)
  if (named !== undefined) return named.findLast(spent)
  return state.open
    .map((index) => state.compiled.steps[index]!)
    .find((step) => step.admitsExtras && spent(step))
}
