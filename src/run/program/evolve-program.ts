/**
 * Applies one event to the state of a program.
 *
 * Owns: every change of a program's state. Never decides: no expression is worked out here.
 */
import { invariant } from '../../shared/lockstep-error.ts'
import type { RunEvent } from '../event.ts'
import type { RunState } from '../state.ts'
import { describing, futureFrame } from './begin-playbook.ts'
import { contextOf, topFrame, type ProgramContext } from './context.ts'
import type { ProgramEvent } from './program-event.ts'
import { answer, belongsTo, dropAhead, dropAnswers, handleMessage, receive } from './evolve-talk.ts'
import { isDueCall, type Cursor, type Frame } from './program-state.ts'

type OfType<Type extends RunEvent['type']> = Extract<RunEvent, { type: Type }>

/** What an event of the run means for its program. Events that concern it in no way change nothing. */
export function evolveProgram(state: RunState, event: RunEvent): void {
  const { program } = state
  if (program === null) return
  const context = contextOf(state, event.at)
  switch (event.type) {
    case 'playbook.begun':
      return begin(context, event)
    case 'playbook.described':
      topFrame(context).description = event.description
      return
    case 'playbook.returned':
    case 'playbook.failed':
      return leave(context, event)
    case 'step.entered':
      return enterStep(context, event.step)
    case 'step.completed':
      return completeStep(context, event.step, event.result)
    case 'step.failed':
      return failStep(context, event)
    case 'branch.passed':
      return passBranch(context, event.arm)
    case 'branch.taken':
      return takeBranch(context, event.arm)
    case 'branch.ended':
      return endBranches(context, event.step)
    case 'loop.turned':
      return turnLoop(context, event)
    case 'loop.continued':
      return continueLoop(context, event.step)
    case 'variable.set':
      return setVariable(context, event)
    case 'call.due':
    case 'act.begun':
    case 'question.asked':
    case 'person.awaited':
    case 'wait.begun':
      return wait(context, event)
    case 'call.readied':
      topFrame(context).readied = true
      return
    case 'call.followed':
      topFrame(context).followed.shift()
      return
    case 'tool.denied':
      // A call that still waits for approval goes on waiting.
      if (event.code === 'awaiting_approval') return
      if (program.pending?.kind === 'call' && isDueCall(program.pending, event))
        program.pending.problem = event.message
      return
    case 'tool.settled':
      return settleCall(context, event)
    case 'act.done':
      program.pending = null
      topFrame(context).outcome = event.result
      topFrame(context).last = event.result
      return
    case 'question.answered':
      return answer(program, event)
    case 'message.sent':
      program.conversation.push({ by: 'agent', text: event.text })
      program.counters.spoken++
      return
    case 'message.received':
      return receive(context, event.text)
    case 'message.handled':
      return handleMessage(program, event.step)
    case 'trigger.set':
      program.timers.push({ key: event.key, due: event.due })
      return
    case 'trigger.changed':
      if (event.key === null) program.written.length = 0
      else program.armed[event.key] = event.holds
      return
    case 'trigger.fired':
      return fireTrigger(context, event.key)
    case 'failure.handled':
      return handleFailure(context)
    case 'program.ending':
      if (event.reason !== undefined) program.reason = event.reason
      return endProgram(context)
    default:
  }
}

/** Whether an event is one of a program's own. */
export function isProgramEvent(event: RunEvent): event is RunEvent & ProgramEvent {
  return programTypes.has(event.type)
}

const programTypes: ReadonlySet<string> = new Set<ProgramEvent['type']>([
  'playbook.begun',
  'playbook.described',
  'playbook.returned',
  'playbook.failed',
  'step.entered',
  'branch.taken',
  'branch.passed',
  'branch.ended',
  'loop.turned',
  'loop.continued',
  'variable.set',
  'call.due',
  'act.begun',
  'act.done',
  'question.asked',
  'question.answered',
  'message.sent',
  'person.awaited',
  'message.received',
  'message.handled',
  'wait.begun',
  'trigger.set',
  'trigger.changed',
  'trigger.fired',
  'call.readied',
  'call.followed',
  'failure.handled',
  'program.ending',
])

function begin({ program, compiled }: ProgramContext, event: OfType<'playbook.begun'>): void {
  const procedure = compiled.procedures.get(event.playbook)
  invariant(procedure !== undefined, `no playbook ${event.playbook}`)
  program.counters.frames = Math.max(program.counters.frames, event.frame)
  // What a model answered ahead was about how things stood before.
  if (event.cause === 'trigger') dropAhead(program)
  if (event.cause === 'entry') program.begun++
  const { pending } = program
  const caller = program.frames.at(-1)
  if (event.cause === 'call' && caller !== undefined && pending?.kind === 'call') {
    caller.calling = { step: pending.step, callId: pending.callId, tool: pending.tool }
  }
  program.pending = null
  program.frames.push({
    ...futureFrame(event.frame, procedure, event.arguments),
    cause: event.cause,
    trigger: event.trigger,
    callId: event.callId,
    description: event.description,
    cursors: [newCursor(procedure.id)],
  })
}

function newCursor(block: string): Cursor {
  return { block, index: 0, turn: 0, counted: 0, spoken: false, items: null }
}

function leave(context: ProgramContext, event: OfType<'playbook.returned' | 'playbook.failed'>): void {
  const { program } = context
  const frame = program.frames.pop()
  invariant(frame?.id === event.frame, 'only the playbook that runs can end')
  dropAhead(program)
  const value = event.type === 'playbook.returned' ? event.value : null
  if (event.type === 'playbook.failed') {
    // A playbook that deals with a failure and fails itself is not dealt with in turn: that might never end.
    const dealing =
      context.compiled.triggers.find(({ key }) => key === frame.trigger)?.trigger.kind === 'fails'
    program.failure = { error: event.error, target: dealing ? null : frame.procedure, step: null }
    program.pending = null
  } else if (frame.cause === 'entry') program.result = value
  restoreVisits(context)
}

/** The bullets of the playbook that goes on are those it had begun, not those a call of itself visited meanwhile. */
function restoreVisits({ program, state }: ProgramContext): void {
  for (const [step, visit] of Object.entries(program.frames.at(-1)?.visits ?? {})) {
    const index = state.compiled.positions.get(step)!
    const current = state.activations[index]
    if (current === undefined || current.visit === visit) continue
    const at = state.previous.findLastIndex((each) => each.step === index && each.visit === visit)
    invariant(at !== -1, `no visit ${visit} of ${step}`)
    state.activations[index] = state.previous[at]
    state.previous[at] = current
  }
}

function enterStep({ program, compiled, state }: ProgramContext, step: string): void {
  const frame = program.frames.at(-1)!
  frame.at = step
  noteVisit(state, frame, step)
  frame.asked = 0
  frame.reply = null
  frame.until = null
  frame.heard = false
  frame.given = []
  frame.outcome = null
  startComputation(frame)
  program.counters.steps++
  invariant(compiled.steps.has(step), `no step ${step}`)
}

function noteVisit(state: RunState, frame: Frame, step: string): void {
  frame.visits[step] = state.activations[state.compiled.positions.get(step)!]!.visit
}

function startComputation(frame: Frame): void {
  frame.results = []
  frame.readied = false
}

/** Goes on after a bullet: whatever was begun inside it is over. */
function completeStep(context: ProgramContext, step: string, result: string | null): void {
  const { program, compiled } = context
  program.pending = null
  const frame = program.frames.at(-1)
  if (frame === undefined) return
  const done = compiled.steps.get(step)
  dropAnswers(program, (id) => belongsTo(id, step))
  delete frame.visits[step]
  // A branch is no place of its own: the `if` around it ends right after.
  if (done === undefined || !('kind' in done)) return
  if (step === describing(frame.procedure)) {
    frame.at = null
    return startComputation(frame)
  }
  leaveBlocks(compiled, frame, step)
  if (done.kind === 'act' && result !== null) frame.last = result
  nextStep(frame)
}

/** Leaves the blocks inside a bullet. */
function leaveBlocks({ blocks }: ProgramContext['compiled'], frame: Frame, step: string): void {
  while (frame.cursors.length > 0) {
    const cursor = frame.cursors.at(-1)!
    if (blocks.get(cursor.block)!.steps[cursor.index]?.id === step) return
    frame.cursors.pop()
  }
}

function nextStep(frame: Frame): void {
  const cursor = frame.cursors.at(-1)
  if (cursor !== undefined) cursor.index++
  frame.at = null
  frame.reply = null
  frame.calling = null
  frame.arm = 0
  startComputation(frame)
}

function failStep({ program }: ProgramContext, event: OfType<'step.failed'>): void {
  // What stands around the bullet that failed goes down with it.
  if (program.failure !== null && program.failure.step !== null) return
  const { pending } = program
  const calling = program.frames.at(-1)?.calling ?? null
  // A playbook that comes before a call and fails, fails the bullet that makes the call.
  const target = pending?.kind === 'call' ? pending.tool : (calling?.tool ?? program.failure?.target ?? null)
  program.failure = { error: traced(event.step, event.error), target, step: event.step }
  program.pending = null
}

/** The most bullets that an error names on its way to the outermost playbook. */
const longestTrace = 8

function traced(step: string, error: string): string {
  // A playbook that called itself says so once.
  if (error.startsWith(`${step}: `)) return error
  const [trace = ''] = /^(?:\S+\/\d[\d.]*: )*/.exec(error) ?? []
  return trace.split(': ').length > longestTrace ? error : `${step}: ${error}`
}

/** Goes on after the bullet that failed; a loop whose condition failed is left. */
function handleFailure({ program, compiled }: ProgramContext): void {
  const step = program.failure?.step ?? null
  program.failure = null
  const frame = program.frames.at(-1)
  // What a trigger had set off failed: the bullet it came between has not, and goes on.
  if (frame === undefined || step === null) return
  if (frame.cursors.some(({ block }) => block === step)) leaveBlocks(compiled, frame, step)
  dropAnswers(program, (id) => belongsTo(id, step))
  nextStep(frame)
}

function endBranches({ program, compiled }: ProgramContext, step: string): void {
  const frame = program.frames.at(-1)!
  leaveBlocks(compiled, frame, step)
  nextStep(frame)
}

function passBranch({ program }: ProgramContext, arm: string): void {
  const frame = program.frames.at(-1)!
  delete frame.visits[arm]
  dropAnswers(program, (id) => id === arm)
  frame.arm++
  startComputation(frame)
}

function takeBranch({ program }: ProgramContext, arm: string): void {
  const frame = program.frames.at(-1)!
  frame.arm = 0
  dropAnswers(program, () => true)
  frame.cursors.push(newCursor(arm))
  frame.at = null
  startComputation(frame)
}

function turnLoop({ program }: ProgramContext, event: OfType<'loop.turned'>): void {
  const frame = program.frames.at(-1)!
  const top = frame.cursors.at(-1)!
  dropAnswers(program, (id) => belongsTo(id, event.step))
  frame.at = null
  startComputation(frame)
  // A turn of a loop without bullets is work too.
  program.counters.steps++
  if (top.block !== event.step) {
    frame.cursors.push({ ...newCursor(event.step), turn: event.turn, items: event.items })
    return
  }
  // Turns in which a person spoke do not count against the bound.
  if (!top.spoken) top.counted++
  top.turn = event.turn
  top.spoken = false
  top.index = 0
}

function continueLoop({ program, compiled }: ProgramContext, loop: string): void {
  const frame = program.frames.at(-1)!
  while (frame.cursors.at(-1)!.block !== loop) frame.cursors.pop()
  frame.cursors.at(-1)!.index = compiled.blocks.get(loop)!.steps.length
  frame.at = null
}

function setVariable({ program, compiled }: ProgramContext, event: OfType<'variable.set'>): void {
  const frame = program.frames.at(-1)!
  const scope = event.agent === null ? frame.locals : (program.agents[event.agent] ??= {})
  Object.defineProperty(scope, event.name, {
    value: event.value,
    enumerable: true,
    configurable: true,
    writable: true,
  })
  if (compiled.watched.has(event.name)) program.written.push(event.name)
  program.counters.writes++
  if (frame.reply !== null) frame.given.push(event.name)
}

function wait(
  { program }: ProgramContext,
  event: OfType<'call.due' | 'act.begun' | 'question.asked' | 'person.awaited' | 'wait.begun'>,
): void {
  switch (event.type) {
    case 'call.due': {
      const { step, callId, tool, args } = event
      program.counters.calls++
      program.pending = { kind: 'call', step, callId, tool, args, problem: null }
      return
    }
    case 'act.begun':
      program.pending = { kind: 'act', step: event.step }
      return
    case 'question.asked': {
      const { id, questions, reads, memory } = event
      program.counters.questions++
      program.pending = { kind: 'questions', id, questions, reads, memory }
      return
    }
    case 'person.awaited':
      program.pending = { kind: 'person', step: event.step }
      return
    case 'wait.begun':
      program.pending = { kind: 'time', step: event.step, until: event.until }
      program.frames.at(-1)!.until = event.until
  }
}

/** The call that the program waits for came back; calls of a model that works freely are not waited for here. */
function settleCall({ program, compiled, state }: ProgramContext, event: OfType<'tool.settled'>): void {
  const { pending } = program
  const frame = program.frames.at(-1)
  if (frame === undefined || event.outcome === 'unknown') return
  const { tool, approval } = state.byCallId.get(event.callId)!
  if (event.outcome === 'succeeded' && compiled.followedCalls.has(tool)) frame.followed.push(tool)
  const awaited = pending?.kind === 'call' && pending.callId === event.callId ? pending : null
  if (awaited === null && frame.calling?.callId !== event.callId) return
  const refused = approval !== null && approval.state !== 'granted'
  if (event.outcome === 'not_executed' && awaited !== null && !refused) {
    // Nothing was done, so it is to be done: the call is made anew.
    program.pending = null
    return
  }
  if (event.outcome !== 'succeeded') {
    if (awaited !== null) awaited.problem = event.error ?? `${tool} did not succeed`
    return
  }
  const value = event.result ?? null
  frame.results.push(value)
  frame.last = value
  frame.readied = false
  frame.calling = null
  program.pending = null
}

function fireTrigger({ program, compiled }: ProgramContext, key: string): void {
  const kind = compiled.triggers.find((each) => each.key === key)?.trigger.kind
  const timer = program.timers.findIndex((each) => each.key === key)
  if (timer !== -1) program.timers.splice(timer, 1)
  if (kind === 'end') program.ended++
  const frame = program.frames.at(-1)
  if (frame !== undefined && kind === 'message') frame.heard = true
}

function endProgram({ program }: ProgramContext): void {
  program.frames.length = 0
  program.pending = null
  program.phase = 'ending'
  program.written.length = 0
  dropAnswers(program, () => true)
}
