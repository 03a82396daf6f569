import type {
  Arm,
  Call,
  Computation,
  Condition,
  Procedure,
  Program,
  Step,
  Target,
} from '../../src/playbook/program.ts'

type WithoutPlace<Body> = Body extends unknown
  ? Omit<Body, 'id' | 'text' | 'line'> & { text?: string; line?: number }
  : never

type WithDraftSteps<Body> = Omit<Body, 'id' | 'text' | 'line' | 'steps'> & {
  text?: string
  line?: number
  steps: readonly DraftStep[]
}

/** A step without its place, which numbering gives it. */
export type DraftStep =
  | WithoutPlace<Exclude<Step, { kind: 'if' | 'loop' | 'each' }>>
  | WithDraftSteps<Extract<Step, { kind: 'loop' }>>
  | WithDraftSteps<Extract<Step, { kind: 'each' }>>
  | { kind: 'if'; arms: readonly DraftArm[] }

/** A branch without its place. */
export type DraftArm = {
  condition: Condition | null
  steps: readonly DraftStep[]
  text?: string
  inline?: boolean
}

/** A value that is worked out from an expression, after calls. */
export function computed(source: string, calls: readonly Call[] = []): Computation {
  return { form: 'expression', source, calls }
}

/** A text with placeholders. */
export function template(source: string): Computation {
  return { form: 'template', source, calls: [] }
}

/** A condition over known values. */
export function holds(source: string, calls: readonly Call[] = []): Condition {
  return { kind: 'computed', value: computed(source, calls) }
}

/** A condition that a model judges. */
export function judged(text: string): Condition {
  return { kind: 'judged', text, reads: [] }
}

/** A call of a tool by named arguments. */
export function toolCall(name: string, named: Record<string, string> = {}): Call {
  return { target: { kind: 'tool', name }, positional: [], named }
}

/** A call of a playbook by position. */
export function playbookCall(id: string, ...positional: string[]): Call {
  return { target: { kind: 'playbook', id }, positional, named: {} }
}

/** A variable of the agent. */
export function variable(name: string, type: Target['type'] = 'any'): Target {
  return { name, scope: 'state', type }
}

/** A playbook with numbered steps. */
export function procedure(
  name: string,
  steps: readonly DraftStep[],
  more: Partial<Omit<Procedure, 'steps' | 'name'>> = {},
): Procedure {
  const lines = { next: 1 }
  return {
    id: name,
    name,
    parameters: [],
    returns: null,
    mode: 'steps',
    public: false,
    description: template(''),
    triggers: [],
    notes: [],
    tools: [],
    metadata: {},
    line: 1,
    ...more,
    steps: numbered(steps, `${name}/`, lines),
  }
}

/** A program of one agent. */
export function program(playbooks: readonly Procedure[], more: Partial<Program> = {}): Program {
  const agent = { name: 'Desk', kind: 'ai', description: template(''), metadata: {}, playbooks } as const
  return {
    name: 'Desk',
    agents: [agent],
    tools: [],
    maxTurns: 20,
    maxModelCalls: null,
    metadata: {},
    ...more,
  }
}

function numbered(drafts: readonly DraftStep[], prefix: string, lines: { next: number }): Step[] {
  let number = 0
  return drafts.map((draft): Step => {
    if (draft.kind === 'if') {
      const first = number + 1
      const arms = draft.arms.map((arm): Arm => {
        const id = `${prefix}${++number}`
        const line = lines.next++
        const { text = 'If', condition, steps, inline = false } = arm
        const inner = numbered(steps, `${id}.`, inline ? { next: line } : lines)
        return { id, text, line, condition, steps: inline ? inner.map((step) => ({ ...step, line })) : inner }
      })
      return { kind: 'if', id: `${prefix}${first}`, text: 'If', line: arms[0]!.line, arms }
    }
    const id = `${prefix}${++number}`
    const placed = { text: draft.kind, line: lines.next++, ...draft, id }
    if (draft.kind !== 'loop' && draft.kind !== 'each') return placed as Step
    return { ...placed, steps: numbered(draft.steps, `${id}.`, lines) } as unknown as Step
  })
}
