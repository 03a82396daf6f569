import { isDisclosed } from '../run/describe-denial.ts'
import { needsDeclaration } from '../run/satisfaction.ts'
import { currentStep, isComplete, type RunState } from '../run/state.ts'
import type { JsonObject } from '../shared/json.ts'
import { controlTools } from '../tool/control-tool.ts'
import type { PlaybookEnforcer } from '../tool/playbook-enforcer.ts'

/** Where a run stands, as it travels with every answer: for programs, and in a sentence for models. */
export interface Position {
  readonly data: JsonObject
  readonly text: string
}

/** Says where a run stands and what is legal now (G10); never more than the playbook discloses. */
export function describePosition(run: string, state: RunState, shownOf: (name: string) => string): Position {
  const current = currentStep(state)
  const step = current === null || isComplete(state) ? null : state.compiled.steps[current]!
  const of = state.compiled.steps.length
  // A tool that is refused until a person found out what became of it is not what comes next.
  const lost = [...state.openTickets].filter((ticket) => ticket.state === 'unknown')
  const callable = [...(step?.tools ?? [])].filter((tool) => lost.every((ticket) => ticket.tool !== tool))
  const allowed =
    state.ended !== null
      ? []
      : step === null
        ? ['finish']
        : [...callable.map(shownOf), ...controlTools(step, false).map(({ name }) => name)]
  const data = {
    run,
    status: state.ended ?? 'running',
    enforced: state.enforced,
    step: step?.id ?? null,
    number: step === null ? null : step.index + 1,
    of,
    allowed,
    ...(lost.length === 0 ? {} : { unsettled: lost.map(({ callId, tool }) => ({ call: callId, tool })) }),
  }
  if (state.ended !== null) return { data, text: `[procedure] The run has ended: ${state.ended}.` }
  if (step === null) {
    const what = isComplete(state) ? `all ${of} steps are done, next: finish` : 'nothing can be called now'
    return { data, text: `[procedure] ${what}` }
  }
  const status = state.activations[step.index]?.status
  const stuck = status === 'failed' || state.paused > 0 ? ' It waits for a person.' : ''
  const tools = [...callable.map(shownOf), ...(step.admitsExtras ? ['any tool no step names'] : [])]
  const ways = [
    ...tools,
    ...(needsDeclaration(step) ? ['complete_step'] : []),
    ...(step.required ? [] : ['skip_step']),
  ]
  return {
    data,
    text: [
      ...lost.map(
        ({ callId, tool }) =>
          `[procedure] Nobody knows what became of ${shownOf(tool)} (${callId}): a person has to find out, and to settle it.`,
      ),
      `[procedure] step ${step.index + 1} of ${of}, next: ${ways.join(', ') || 'fail_step'}.${stuck}`,
      `${step.id}: ${step.source.description}`,
      ...step.source.hints.map((hint) => `Hint: ${hint}`),
    ].join('\n'),
  }
}

/** The plan as a client may read it: every step that may be spoken of, and how far it is. */
export function describePlanResource(run: string, enforcer: PlaybookEnforcer): JsonObject {
  const { plan, playbook } = enforcer
  const { state } = enforcer.gate
  return {
    run,
    playbook: { id: playbook.id, name: playbook.name, version: playbook.version },
    status: state.ended ?? 'running',
    enforcement: state.enforced ? 'enforced' : 'observed, not enforced',
    progress: plan.progress,
    current: isComplete(state) ? null : (enforcer.currentStep?.id ?? null),
    steps: plan.executions.map((execution, index) => {
      const step = state.compiled.steps[index]!
      if (!isDisclosed(state, step)) return { number: index + 1, disclosed: false }
      return {
        number: index + 1,
        id: step.id,
        description: step.source.description,
        required: step.required,
        status: execution.status,
        calls: execution.calls.map(({ tool, outcome }) => ({ tool, outcome })),
      }
    }),
    violations: enforcer.violations.length,
  }
}
