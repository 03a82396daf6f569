import type { RunEvent } from './event.ts'

/** Every kind of event; a new one that is not in here does not compile. */
const types: Readonly<Record<RunEvent['type'], true>> = {
  'run.started': true,
  'tool.admitted': true,
  'tool.held': true,
  'approval.voted': true,
  'approval.expired': true,
  'tool.denied': true,
  'tool.settled': true,
  'tool.unadmitted': true,
  'step.opened': true,
  'step.undecided': true,
  'step.completed': true,
  'step.skipped': true,
  'step.failed': true,
  'step.escalated': true,
  'step.retried': true,
  'step.refused': true,
  'iteration.started': true,
  'finish.refused': true,
  'run.finished': true,
  'playbook.begun': true,
  'playbook.described': true,
  'playbook.returned': true,
  'playbook.failed': true,
  'step.entered': true,
  'branch.taken': true,
  'branch.passed': true,
  'branch.ended': true,
  'loop.turned': true,
  'loop.continued': true,
  'variable.set': true,
  'call.due': true,
  'act.begun': true,
  'act.done': true,
  'question.asked': true,
  'question.answered': true,
  'message.sent': true,
  'person.awaited': true,
  'message.received': true,
  'message.handled': true,
  'wait.begun': true,
  'trigger.set': true,
  'trigger.changed': true,
  'trigger.fired': true,
  'call.readied': true,
  'call.followed': true,
  'failure.handled': true,
  'program.ending': true,
  'run.paused': true,
  'run.unpaused': true,
  'cancel.requested': true,
  'compensation.begun': true,
}

const known: ReadonlyMap<string, string> = new Map(Object.keys(types).map((type) => [type, type]))

/** The kind of event that the text names, if the run machine makes such events; comparing it then takes no reading of letters. */
export function runEventType(type: string): RunEvent['type'] | null {
  return (known.get(type) as RunEvent['type'] | undefined) ?? null
}

/** Says whether the run machine makes events of this kind. */
export function isRunEventType(type: string): type is RunEvent['type'] {
  return known.has(type)
}
