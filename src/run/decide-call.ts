import { ExpressionError } from '../expression/expression-error.ts'
import type { ExpressionValue } from '../expression/expression-value.ts'
import type { Requirement } from '../playbook/compile-playbook.ts'
import { canonicalJson } from '../shared/canonical-json.ts'
import type { JsonObject } from '../shared/json.ts'
import { bindsObservers, type DenialCode } from './denial-code.ts'
import { describeDenial, isDisclosed } from './describe-denial.ts'
import type { RunEvent } from './event.ts'
import type { DueCall } from './due-calls.ts'
import { findOwner, naturalOwner, type Owner } from './find-owner.ts'
import { findGrant, findOwnCall, isDue, isFinal, type OwnCall, ownerOfDue, whyNotDue } from './judge-due.ts'
import { noteProblem } from './program/note-rule.ts'
import { findOwnerInProgram } from './program/find-owner-in-program.ts'
import { unknownArguments } from './placeholder.ts'
import { isOnlyShown } from './resolve-call.ts'
import { PassedOverView } from './passed-over-view.ts'
import { recordFacts } from './recorded-facts.ts'
import type { Facts, RunRequest } from './request.ts'
import { currentStep, type RunState } from './state.ts'
import { isOverdue } from './step-clock.ts'
import type { Ticket } from './ticket.ts'

type CallRequest = Extract<RunRequest, { type: 'call' }>

/** What the gate found: the owner of an admitted call and the rules that nobody can judge yet, or why it is denied. */
type Verdict = { readonly owner: Owner; readonly open: readonly string[] } | Denial

/** Why a call is denied; `detail` is for codes whose reason lies in the call or the rule. */
export interface Denial {
  readonly code: DenialCode
  readonly detail: string | null
}

/** ASCII only, so that a name cannot look like another one. */
const toolName = /^[A-Za-z0-9_][A-Za-z0-9_./-]{0,127}$/

/** Judges one call in the state its predecessors left (G5): the events that admit it, or the one that denies it. */
export function decideCall(state: RunState, request: CallRequest, facts: Facts): readonly RunEvent[] {
  const at = Math.max(facts.now, state.clock)
  let verdict: Verdict
  let held: Ticket | null = null
  let own: OwnCall = null
  try {
    held = findHeld(state, request)
    own = findOwnCall(state, request, at)
    verdict = judge(state, request, facts, at, own)
  } catch (error) {
    verdict = { code: 'gate_error', detail: error instanceof Error ? error.message : String(error) }
  }
  // Policy has the last word (G14): it is asked about what would be let through, also where the playbook only observes.
  const binds = (code: DenialCode) =>
    own === 'not_due' || own === 'another' || state.enforced || bindsObservers(code)
  const passes = 'owner' in verdict || !binds(verdict.code)
  if (passes && facts.policy?.verdict === 'deny') verdict = deny('policy', facts.policy.reason)
  if ('owner' in verdict) return admission(state, request, verdict, null, at, facts, own)
  const blocked = binds(verdict.code)
  const current = currentStep(state)
  const denied: RunEvent = {
    type: 'tool.denied',
    at,
    callId: request.callId,
    tool: verdict.code === 'invalid_tool_name' ? shortened(request.tool) : request.tool,
    args: request.args,
    step: current === null ? null : state.compiled.steps[current]!.id,
    code: verdict.code,
    message: describeDenial(state, request.tool, verdict),
    blocked,
    ...(facts.policy == null ? {} : { policy: facts.policy.record }),
    ...recordFacts(state, facts),
    ...(blocked && isFinal(own, verdict.code) ? { final: true } : {}),
  }
  if (blocked) {
    // A call that was approved and may not be made after all gives its place back; one that still waits keeps it.
    if (held === null || verdict.code === 'awaiting_approval') return [denied]
    return [
      denied,
      { type: 'tool.settled', at, callId: held.callId, outcome: 'not_executed', error: denied.message },
    ]
  }
  const owner = isDue(own) ? ownerOfDue(state, own) : naturalOwner(state, request.tool)
  return [denied, ...admission(state, request, { owner, open: [] }, verdict.code, at, facts, own)]
}

function admission(
  state: RunState,
  request: CallRequest,
  { owner, open }: Extract<Verdict, { owner: Owner }>,
  observed: DenialCode | null,
  at: number,
  facts: Facts,
  own: OwnCall,
): readonly RunEvent[] {
  const { policy = null, target } = facts
  const undoes = isDue(own) && own.purpose === 'undo' ? { undoes: own.of! } : {}
  // In the order that canonical JSON has: so it is written once.
  const call = {
    at,
    args: request.args,
    callId: request.callId ?? freshCallId(state),
    extra: owner.extra,
    ...recordFacts(state, facts),
    observed,
    ...(open.length === 0 ? {} : { open }),
    ...(policy === null ? {} : { policy: policy.record }),
    step: owner.step?.id ?? null,
    ...(target == null ? {} : { target }),
    tool: request.tool,
    ...undoes,
  }
  const asked = policy?.verdict === 'needs_approval' && findHeld(state, request) === null
  const grant = asked ? findGrant(state, own, at) : null
  const waits = asked && grant === null
  const admitted: RunEvent = waits
    ? {
        ...call,
        type: 'tool.held',
        message: describeDenial(state, request.tool, deny('awaiting_approval', policy.reason)),
        demands: policy.demands,
        expiresAt: at + policy.expiresAfterSeconds * 1000,
        policy: policy.record,
      }
    : {
        ...(grant === null ? {} : { approvedAs: grant.callId }),
        ...call,
        type: 'tool.admitted',
      }
  if (owner.passes.length === 0) return [admitted]
  const events: RunEvent[] = owner.passes.map((index) => ({
    type: 'step.skipped',
    at,
    step: state.compiled.steps[index]!.id,
    by: 'passed_over',
    reason: `'${request.tool}' was called for step '${owner.step!.id}'`,
  }))
  if (owner.step!.when !== null) events.push({ type: 'step.opened', at, step: owner.step!.id })
  return [...events, admitted]
}

function judge(state: RunState, request: CallRequest, facts: Facts, at: number, own: OwnCall): Verdict {
  // A name that the playbook uses has been checked already.
  if (!state.compiled.stepsByTool.has(request.tool) && !toolName.test(request.tool))
    return deny('invalid_tool_name')
  if (facts.malformed != null) return deny('invalid_arguments', facts.malformed)
  const held = findHeld(state, request)
  if (request.callId !== null && state.byCallId.has(request.callId) && held === null)
    return deny('duplicate_call', request.callId)
  if (facts.registered === false) return deny('unknown_tool')
  if (facts.veto != null) return deny('vetoed', facts.veto)
  if (state.ended !== null) return deny('run_ended')
  const stopped = whyStopped(state, at, held?.undoes !== undefined || isUndo(own))
  if (stopped !== null) return deny(stopped)

  const unknown = unknownCall(state, request.tool)
  if (unknown !== null) return deny('outcome_unknown', unknown)
  if (held !== null) return judgeHeld(state, request, held, facts)
  if (own !== null) {
    const why = whyNotDue(own, facts)
    if (why !== null) return why
    const owner = ownerOfDue(state, own as DueCall)
    return judgeArguments(state, request, owner, facts)
  }

  const owner =
    state.program === null
      ? findOwner(state, request.tool)
      : findOwnerInProgram(state, request, facts.risk ?? null)
  if (typeof owner === 'string') return deny(owner)
  const { step } = owner
  if (step !== null && step.cap !== null && (state.activations[step.index]?.used ?? 0) >= step.cap) {
    return deny('max_tool_calls')
  }
  const { maxExtraCalls } = state.compiled.playbook
  if (owner.extra && maxExtraCalls !== null && state.extraCalls >= maxExtraCalls)
    return deny('max_extra_calls')
  const note = noteProblem(state, request.tool)
  if (note !== null) return deny('rule', note)
  return judgeArguments(state, request, owner, facts)
}

/** Why nothing is let through in the state the run is in; what undoes is, once undoing has begun (G17). */
function whyStopped(state: RunState, at: number, undoes: boolean): DenialCode | null {
  if (state.suspension !== null) return 'run_paused'
  if (state.compensation !== null || state.cancellation !== null) return undoes ? null : 'run_cancelled'
  if (state.failedRequired > 0) return 'step_failed'
  if (state.paused > 0) return 'run_paused'
  return state.timed.some((activation) => isOverdue(state, activation, at)) ? 'timeout' : null
}

function isUndo(own: OwnCall): boolean {
  return isDue(own) && own.purpose === 'undo'
}

/** A held call is made once it is approved, after everything but its place, which it has, was judged again (G15). */
function judgeHeld(state: RunState, request: CallRequest, held: Ticket, facts: Facts): Verdict {
  if (held.approval!.state !== 'granted') return deny('awaiting_approval', 'nobody has approved it yet')
  const step = held.step === null ? null : state.compiled.steps[held.step]!
  const owner: Owner = { step, extra: held.extra, passes: [] }
  const note = noteProblem(state, request.tool)
  if (note !== null) return deny('rule', note)
  return judgeArguments(state, request, owner, facts)
}

/** The held call that a request is about: the same call, to the letter. */
function findHeld(state: RunState, { callId, tool, args }: CallRequest): Ticket | null {
  const ticket = callId === null ? undefined : state.byCallId.get(callId)
  if (ticket?.state !== 'held' || ticket.tool !== tool) return null
  return canonicalJson(ticket.args ?? {}) === canonicalJson(args ?? {}) ? ticket : null
}

function judgeArguments(state: RunState, request: CallRequest, owner: Owner, facts: Facts): Verdict {
  const own = owner.step?.arguments.get(request.tool)
  const rules = state.compiled.rulesFor(request.tool)
  if (own === undefined && rules.length === 0) return { owner, open: nothing }
  const steps = owner.passes.length === 0 ? state.stepsView : new PassedOverView(state, owner.passes)
  const values = [state.inputs, steps, request.args ?? undefined, request.tool]
  const open: string[] = []
  const isOpen = (requirement: Requirement) => {
    const isUnknown = facts.shown === true && dependsOnUnknown(state, requirement, request.args, values)
    if (isUnknown) open.push(requirement.require!.source)
    return isUnknown
  }
  if (own !== undefined && !isOpen(own)) {
    const problem = requirementProblem(state, own, request.args, values)
    if (problem !== null) return deny(request.args === null ? 'arguments_required' : 'argument_rule', problem)
  }
  for (const rule of rules) {
    const problem = isOpen(rule) ? null : requirementProblem(state, rule, request.args, values)
    if (problem === null) continue
    return deny(request.args === null && rule.readsArguments ? 'arguments_required' : 'rule', problem)
  }
  return { owner, open }
}

const nothing: readonly string[] = []

/** In a dry run: whether a condition looks at an argument that nobody knows, or cannot be judged for want of what only a made call could tell. */
function dependsOnUnknown(
  state: RunState,
  { require }: Requirement,
  args: JsonObject | null,
  values: readonly (ExpressionValue | undefined)[],
): boolean {
  if (require === null || state.mode !== 'dry-run') return false
  const unknown = unknownArguments(args)
  const looksAtOne = require.references.some(
    ({ name, path: [member] }) => name === 'args' && unknown.some((each) => (member ?? each) === each),
  )
  if (looksAtOne) return true
  const rehearsed = require.references.some(
    ({ name, path: [id, member] }) =>
      name === 'steps' && member === 'output' && id !== undefined && isOnlyShown(state, id),
  )
  return rehearsed && require.evaluate(values, state.past) instanceof ExpressionError
}

/** Why a call does not meet a requirement, in words; null if it does. A condition that cannot be evaluated is not met. */
function requirementProblem(
  state: RunState,
  requirement: Requirement,
  args: JsonObject | null,
  values: readonly (ExpressionValue | undefined)[],
): string | null {
  if (args === null && requirement.readsArguments)
    return requirement.message ?? 'the call carries no arguments'
  if (requirement.schema !== null) {
    const problems = requirement.schema.check(args ?? {})
    if (problems.length > 0) return requirement.message ?? problems.join('; ')
  }
  if (requirement.require === null) return null
  const value = requirement.require.evaluate(values, state.past)
  if (value === true) return null
  if (requirement.message !== null) return requirement.message
  // The words of a condition may tell of steps that are not to be spoken of yet (G10).
  if (!state.compiled.steps.every((step) => isDisclosed(state, step))) return 'its condition does not hold'
  return value instanceof ExpressionError
    ? `${requirement.require.source} (${value.message})`
    : requirement.require.source
}

/** An earlier call of the tool that may have taken effect: nothing is repeated before somebody has found out. */
export function unknownCall(state: RunState, tool: string): string | null {
  if (state.unknown.size === 0) return null
  // In the order in which they were let through, whichever of them was given up first.
  for (const ticket of state.openTickets)
    if (ticket.tool === tool && ticket.state === 'unknown') return ticket.callId
  return null
}

/** A caller may have used any id, so the next free one is looked for. */
function freshCallId(state: RunState): string {
  for (let number = state.tickets.length + 1; ; number++) {
    const id = `call-${number}`
    if (!state.byCallId.has(id)) return id
  }
}

/** What is no name may be anything, of any length; enough of it is kept to recognise it. */
function shortened(name: string): string {
  return name.length <= 128 ? name : `${name.slice(0, 127)}…`
}

function deny(code: DenialCode, detail: string | null = null): Denial {
  return { code, detail }
}
