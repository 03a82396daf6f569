import type { RunEvent } from '../../src/run/event.ts'
import type { EnforcerSnapshot } from '../../src/tool/snapshot.ts'
import type { Before, NaivePlaybook } from './naive-playbook.ts'

/**
 * What the rules forbid and the events of an enforcing run show all the same, in words: calls before their turn, in a run that
 * stands still, or of tools that the step does not admit. It looks at events only, so that it depends on neither gate.
 */
export function findForbidden(playbook: NaivePlaybook, events: readonly RunEvent[]): string[] {
  const problems: string[] = []
  const statuses = new Map<string, 'completed' | 'skipped' | 'failed' | 'waits for a person'>()
  let ended = false
  const isMet = (before: Before): boolean => {
    if (typeof before !== 'string') return 'any' in before ? before.any.some(isMet) : before.all.every(isMet)
    const status = statuses.get(before)
    const required = playbook.steps.find((step) => step.id === before)!.required
    return status === 'completed' || status === 'skipped' || (status === 'failed' && !required)
  }
  for (const event of events) {
    switch (event.type) {
      case 'step.completed':
      case 'step.skipped':
      case 'step.failed':
        statuses.set(event.step, event.type.slice('step.'.length) as 'completed')
        break
      case 'step.escalated':
      case 'step.undecided':
        statuses.set(event.step, 'waits for a person')
        break
      case 'step.retried':
        statuses.delete(event.step)
        break
      case 'run.finished':
        ended = true
        break
      case 'tool.admitted': {
        const { tool } = event
        const say = (what: string) => problems.push(`${tool} in ${event.step}: ${what}`)
        if (ended) say('the run had ended')
        for (const { id, required } of playbook.steps) {
          const status = statuses.get(id)
          if (status === 'waits for a person') say(`${id} waited for a person`)
          if (status === 'failed' && required) say(`${id} had failed`)
        }
        const named = playbook.steps.some((step) => step.tools.includes(tool))
        const owner = playbook.steps.find((step) => step.id === event.step)
        if (named && owner === undefined) say('a named tool belongs to no step')
        if (!named && owner === undefined && !playbook.allowExtra) say('it is an extra')
        if (owner === undefined) break
        const { tools, star, before, cap } = owner
        if (!tools.includes(tool) && (named || !star)) say('the step does not admit it')
        if (!isMet(before)) say('something before the step is not met')
        const status = statuses.get(owner.id)
        if (status === 'completed' && cap !== null) statuses.delete(owner.id)
        else if (status !== undefined) say(`the step was ${status}`)
        break
      }
      default:
    }
  }
  return problems
}

/** The caps that a run exceeds, in words. */
export function findExceeded(playbook: NaivePlaybook, { state }: EnforcerSnapshot): string[] {
  const problems: string[] = []
  const taken = state.tickets.filter((ticket) => ticket.state !== 'not_executed')
  for (const { id, cap } of playbook.steps) {
    for (const visit of new Set(taken.map((ticket) => ticket.visit))) {
      const used = taken.filter((ticket) => ticket.step === id && ticket.visit === visit).length
      if (cap !== null && used > cap) problems.push(`${id} made ${used} of ${cap} calls`)
    }
  }
  const named = playbook.steps.flatMap((step) => step.tools)
  const extras = taken.filter((ticket) => !named.includes(ticket.tool)).length
  const { maxExtra } = playbook
  if (maxExtra !== null && extras > maxExtra) problems.push(`${extras} of ${maxExtra} extra calls`)
  return problems
}
