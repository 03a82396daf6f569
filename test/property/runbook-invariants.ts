import type { RunEvent } from '../../src/run/event.ts'
import type { JsonObject } from '../../src/shared/json.ts'

/** A step of a random runbook, as its file says it. */
export interface RandomStep {
  readonly id: string
  readonly tool: string
  readonly after: readonly string[]
  readonly required: boolean
  readonly attempts: number
  readonly undo: string | null
  readonly verify: boolean
  readonly items: number | null
  readonly concurrency: number
  readonly when: boolean
}

/** A random runbook. */
export interface RandomRunbook {
  readonly steps: readonly RandomStep[]
  readonly onFailure: 'compensate' | 'stop' | null
  readonly onCancel: 'compensate' | 'stop'
}

/** What the world saw of one call: its key, and whether it took effect. */
export interface Effect {
  readonly key: string
  readonly applied: boolean
}

/** The runbook as a file would say it. */
export function toFile({ steps, onFailure, onCancel }: RandomRunbook): JsonObject {
  return {
    name: 'random',
    inputs: { flag: 'boolean', items: 'array' },
    strict_sequence: false,
    ...(onFailure === null ? {} : { on_failure: onFailure }),
    on_cancel: onCancel,
    steps: steps.map((step) => ({
      name: step.id,
      tool: step.tool,
      required: step.required,
      ...(step.after.length === 0 ? {} : { after: [...step.after] }),
      ...(step.when ? { when: 'inputs.flag' } : {}),
      ...(step.attempts > 1 ? { retry: { attempts: step.attempts, delay_seconds: 0.01 } } : {}),
      ...(step.undo === null ? {} : { compensate: { tool: step.undo, input: { of: '{output}' } } }),
      ...(step.verify ? { verify: { tool: 'look', expect: 'result != "no"' } } : {}),
      ...(step.items === null
        ? {}
        : { foreach: `{inputs.items[:${step.items}]}`, concurrency: step.concurrency }),
    })),
  }
}

/**
 * What the rules forbid and the events of a run show all the same, in words. It knows the runbook, the events and what the world saw, and nothing of the
 * machine: ids are taken apart here by hand.
 */
export function findForbidden(
  runbook: RandomRunbook,
  events: readonly RunEvent[],
  effects: readonly Effect[],
): string[] {
  const problems: string[] = []
  const say = (what: string) => problems.push(what)
  const status = new Map<string, string>()
  const flying = new Map<string, string>()
  const failures = new Map<string, number>()
  const settled: string[] = []
  const undone: string[] = []
  let stopped = false
  let undoing = false
  let ended: { status: string; message: string } | null = null
  const isMet = (id: string) => {
    const stands = status.get(id)
    const { required } = runbook.steps.find((step) => step.id === id)!
    return stands === 'completed' || stands === 'skipped' || (stands === 'failed' && !required)
  }
  for (const event of events) {
    if (ended !== null && event.type !== 'tool.settled') say(`${event.type} after the end`)
    switch (event.type) {
      case 'tool.admitted': {
        const { callId } = event
        const key = callId.replace(/~\d+$/, '')
        if ([...flying.values()].includes(key)) say(`${callId} is made beside itself`)
        flying.set(callId, key)
        if (key.endsWith('!')) {
          if (!undoing) say(`${callId} undoes before undoing has begun`)
          const next = settled.at(-1)
          if (key !== `${next}!`) say(`${callId} is undone before ${next}`)
          break
        }
        const step = runbook.steps.find(({ id }) => id === key.replace(/[[?].*$/, ''))!
        if (stopped || undoing) say(`${callId} is begun although the run stops`)
        for (const id of step.after) if (!isMet(id)) say(`${callId} comes before ${id}`)
        if (status.has(step.id)) say(`${callId} of a step that is ${status.get(step.id)}`)
        const beside = [...flying.values()].filter((each) => each.replace(/[[?].*$/, '') === step.id)
        if (beside.length > (step.items === null ? 1 : step.concurrency)) say(`${callId} is one too many`)
        break
      }
      case 'tool.settled': {
        const key = event.callId.replace(/~\d+$/, '')
        if (event.outcome === 'unknown') break
        flying.delete(event.callId)
        const step = runbook.steps.find(({ id }) => id === key.replace(/[[?!].*$/, ''))!
        if (event.outcome === 'failed') {
          failures.set(key, (failures.get(key) ?? 0) + 1)
          const most = key.endsWith('!') ? Math.max(3, step.attempts) : key.endsWith('?') ? 1 : step.attempts
          if (failures.get(key)! > most) say(`${key} was tried ${failures.get(key)} times`)
        }
        if (event.outcome !== 'succeeded') break
        if (key.endsWith('!')) {
          settled.pop()
          undone.push(key.slice(0, -1))
        } else if (!key.endsWith('?') && step.undo !== null && compensates(runbook)) settled.push(key)
        break
      }
      case 'step.completed':
      case 'step.skipped':
      case 'step.failed':
        if (status.has(event.step)) say(`${event.step} is done twice`)
        status.set(event.step, event.type.slice('step.'.length))
        if (event.type === 'step.failed' && runbook.steps.find(({ id }) => id === event.step)!.required)
          stopped = true
        break
      case 'cancel.requested':
        stopped = true
        break
      case 'compensation.begun':
        undoing = true
        if (flying.size > 0) say(`undoing begins beside ${[...flying.keys()].join()}`)
        break
      case 'run.finished':
        ended = { status: event.status, message: event.message ?? '' }
        break
      default:
    }
  }
  for (const key of new Set(effects.map((effect) => effect.key))) {
    const times = effects.filter((effect) => effect.key === key && effect.applied).length
    if (times > 1) say(`${key} took effect ${times} times`)
  }
  if (ended === null) return [...problems, 'the run has not ended']
  if (ended.status === 'succeeded') {
    if (undone.length > 0) say(`a run that succeeded undid ${undone.join()}`)
    for (const { id } of runbook.steps) if (!isMet(id)) say(`the run succeeded without ${id}`)
  }
  const cause = ended.status === 'cancelled' ? runbook.onCancel : onFailure(runbook)
  const undoes = ended.status !== 'succeeded' && cause === 'compensate'
  if (!undoes && undone.length > 0) say(`${undone.join()} was undone although nobody said so`)
  const named = /Not undone: ([^(]*) \(/.exec(ended.message)?.[1]?.split(', ') ?? []
  const keys = named.map((callId) => callId.replace(/~\d+$/, ''))
  if (undoes) for (const key of settled) if (!keys.includes(key)) say(`${key} is left and not named`)
  return problems
}

function onFailure({ onFailure: said, steps }: RandomRunbook): 'compensate' | 'stop' {
  return said ?? (steps.some(({ undo }) => undo !== null) ? 'compensate' : 'stop')
}

function compensates(runbook: RandomRunbook): boolean {
  return onFailure(runbook) === 'compensate' || runbook.onCancel === 'compensate'
}
