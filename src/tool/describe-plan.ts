import type { Activation } from '../run/activation.ts'
import { currentStep, isComplete, type RunState } from '../run/state.ts'
import type { Ticket } from '../run/ticket.ts'
import { PlaybookPlan } from './playbook-plan.ts'
import { StepExecution, type CallRecord } from './step-execution.ts'

/** The plan a state stands for. */
export function describePlan(state: RunState): PlaybookPlan {
  const { playbook } = state.compiled
  const stepExecutions: Record<string, StepExecution> = Object.create(null) as Record<string, StepExecution>
  for (const activation of state.activations) {
    if (activation === undefined || !hasBegun(activation)) continue
    const id = playbook.steps[activation.step]!.id
    const earlier = state.previous.filter((visit) => visit.step === activation.step)
    stepExecutions[id] = describeExecution(id, activation, earlier)
  }
  for (const ticket of state.compensation === null ? [] : state.tickets) {
    if (ticket.undoes === undefined || ticket.step === null) continue
    stepExecutions[playbook.steps[ticket.step]!.id]?.calls.push(describeCall(ticket))
  }
  return new PlaybookPlan({
    playbook,
    startedAt: new Date(state.startedAt),
    currentStepIndex: currentStep(state) ?? playbook.steps.length,
    stepExecutions,
    completed: isComplete(state),
    totalToolCalls: state.totalToolCalls,
    errors: state.errors,
  })
}

function hasBegun(activation: Activation): boolean {
  const { status, visit, phase } = activation
  return status !== 'pending' || visit > 1 || phase === 'undecided' || phase === 'escalated'
}

function describeExecution(
  stepId: string,
  activation: Activation,
  earlier: readonly Activation[] = [],
): StepExecution {
  const made = activation.tickets.filter(
    (ticket) => ticket.settledAt !== null && ticket.state !== 'not_executed',
  )
  return new StepExecution({
    stepId,
    status: activation.status,
    phase: activation.phase,
    visit: activation.visit,
    startedAt: date(activation.startedAt),
    completedAt: date(activation.completedAt),
    toolCalls: made.map((ticket) => ticket.tool),
    calls: activation.tickets.map(describeCall),
    by: activation.by,
    error: activation.error,
    result: activation.result,
    outOfOrder: activation.outOfOrder,
    earlierVisits: earlier.map((visit) => describeExecution(stepId, visit)),
  })
}

function describeCall(ticket: Ticket): CallRecord {
  return {
    id: ticket.callId,
    tool: ticket.tool,
    arguments: ticket.args,
    outcome: ticket.state,
    admittedAt: new Date(ticket.admittedAt),
    settledAt: date(ticket.settledAt),
    result: ticket.result,
    error: ticket.error,
    observed: ticket.observed,
  }
}

function date(at: number | null): Date | null {
  return at === null ? null : new Date(at)
}
