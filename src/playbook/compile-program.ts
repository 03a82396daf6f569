import { checkedValue, compileTruth, compileValue, type CompiledValue } from './compile-value.ts'
import type {
  Arm,
  Call,
  Computation,
  Condition,
  NoteRule,
  Procedure,
  Program,
  ProgramAgent,
  Step,
  Trigger,
} from './program.ts'

/** A call with its arguments compiled. */
export interface CompiledCall {
  readonly target: Call['target']
  readonly positional: readonly CompiledValue[]
  readonly named: readonly (readonly [string, CompiledValue])[]
}

/** A computation with its calls and its value compiled. */
export interface CompiledComputation {
  readonly calls: readonly CompiledCall[]
  readonly value: CompiledValue
}

/** A list of steps that run one after another: a playbook's body, a loop's, or a branch's. */
export interface Block {
  /** The id of the playbook, the loop or the branch. */
  readonly id: string
  readonly steps: readonly Step[]
}

/** A trigger with the playbook it begins. */
export interface CompiledTrigger {
  /** Unique in the program. */
  readonly key: string
  readonly procedure: Procedure
  readonly trigger: Trigger
}

/** What a note demands before a call, with the playbook it stands in. */
export interface CompiledNoteRule {
  readonly key: string
  readonly procedure: Procedure
  readonly rule: NoteRule
  readonly text: string
}

/** A program with everything looked up once. */
export interface CompiledProgram {
  readonly program: Program
  readonly procedures: ReadonlyMap<string, Procedure>
  readonly agents: ReadonlyMap<string, ProgramAgent>
  readonly blocks: ReadonlyMap<string, Block>
  readonly steps: ReadonlyMap<string, Step | Arm>
  readonly triggers: readonly CompiledTrigger[]
  readonly noteRules: readonly CompiledNoteRule[]
  /** The playbooks that begin the program, in order. */
  readonly entries: readonly Procedure[]
  /** The playbooks that a program calls by itself, under the names of their calls: the host need not supply them. */
  readonly ownCalls: readonly string[]
  /** The variables that a trigger watches. */
  readonly watched: ReadonlySet<string>
  /** The calls after which a trigger fires. */
  readonly followedCalls: ReadonlySet<string>
  /** The agent that a playbook belongs to. */
  agentOf(procedure: Procedure): ProgramAgent
  computation(computation: Computation): CompiledComputation
  /** The same for a branch: its value is true or false. */
  truth(computation: Computation): CompiledComputation
}

/** The name under which calls of a target are recorded and ruled. */
export function targetName(target: Call['target']): string {
  return target.kind === 'tool' ? target.name : target.id
}

/** Looks everything up once. The program was checked when it was read, so this never fails. */
export function compileProgram(program: Program): CompiledProgram {
  const procedures = new Map<string, Procedure>()
  const owners = new Map<Procedure, ProgramAgent>()
  const blocks = new Map<string, Block>()
  const steps = new Map<string, Step | Arm>()
  const addBlock = (id: string, list: readonly Step[]): void => {
    blocks.set(id, { id, steps: list })
    for (const step of list) {
      // The bullets of an `if` are its branches; it has none of its own.
      if (step.kind !== 'if') steps.set(step.id, step)
      if (step.kind === 'loop' || step.kind === 'each') addBlock(step.id, step.steps)
      if (step.kind !== 'if') continue
      for (const arm of step.arms) {
        steps.set(arm.id, arm)
        addBlock(arm.id, arm.steps)
      }
    }
  }
  for (const agent of program.agents) {
    for (const procedure of agent.playbooks) {
      procedures.set(procedure.id, procedure)
      owners.set(procedure, agent)
      if (procedure.description.calls.length > 0) {
        const { id, line, description: value } = procedure
        const text = `Fill in what ${procedure.name} is about.`
        steps.set(`${id}/0`, { id: `${id}/0`, text, line, kind: 'call', value, target: null })
      }
      addBlock(procedure.id, bodyOf(procedure))
    }
  }
  const all = [...procedures.values()]
  const triggers = all.flatMap((procedure) =>
    procedure.triggers.map((trigger, index) => ({ key: `${procedure.id}:${index}`, procedure, trigger })),
  )
  const noteRules = all.flatMap((procedure) =>
    procedure.notes.flatMap(({ rule, text }, index) =>
      rule === null ? [] : [{ key: `${procedure.id}:note:${index}`, procedure, rule, text }],
    ),
  )
  const begun = triggers.filter(({ trigger }) => trigger.kind === 'begin').map(({ procedure }) => procedure)
  const first = all.find(({ mode }) => mode !== 'host')
  const computations = new Map<Computation, CompiledComputation>()
  const truths = new Map<Computation, CompiledComputation>()
  return {
    program,
    procedures,
    agents: new Map(program.agents.map((agent) => [agent.name, agent])),
    blocks,
    steps,
    triggers,
    noteRules,
    entries: begun.length > 0 ? [...new Set(begun)] : first === undefined ? [] : [first],
    watched: new Set(triggers.flatMap(({ trigger }) => (trigger.kind === 'state' ? trigger.reads : []))),
    ownCalls: all.filter(({ mode }) => mode !== 'host').map(({ id }) => id),
    followedCalls: new Set(
      triggers.flatMap(({ trigger }) => (trigger.kind === 'after' ? [targetName(trigger.call)] : [])),
    ),
    agentOf: (procedure) => owners.get(procedure)!,
    computation: (each) => remember(computations, each, () => compileComputation(each, compileValue)),
    truth: (each) => remember(truths, each, () => compileComputation(each, (source) => compileTruth(source))),
  }
}

/** How many calls the model may make that works on a playbook without steps, where that says nothing. */
const reactCalls = 20

/** The bullets of a playbook. One without steps is a single piece of work for a model, or a single question to it, and returns what that gives. */
function bodyOf({
  id,
  mode,
  line,
  steps,
  tools,
  triggers,
  parameters,
  metadata,
}: Procedure): readonly Step[] {
  if (mode === 'steps' || (mode === 'host' && triggers.length === 0)) return steps
  const place = (number: number, text: string) => ({ id: `${id}/${number}`, text, line })
  if (mode === 'host') {
    // A function that the host supplies is called directly; where a trigger sets it off, this is the call.
    const named = Object.fromEntries(parameters.map(({ name }) => [name, name]))
    const call: Call = { target: { kind: 'tool', name: id }, positional: [], named }
    const value: Computation = { form: 'expression', source: 'call_1', calls: [call] }
    return [{ ...place(1, `Call ${id}.`), kind: 'return', value }]
  }
  const instruction = 'Do what the description of the playbook says, and answer with what it asks for.'
  if (mode === 'raw') {
    return [{ ...place(1, 'Answer what the description says.'), kind: 'answer', instruction, reads: [] }]
  }
  return [
    {
      ...place(1, 'Work towards what the description says.'),
      kind: 'act',
      instruction,
      targets: [],
      reads: [],
      tools,
      reach: 'named',
      maxCalls: typeof metadata['max_calls'] === 'number' ? metadata['max_calls'] : reactCalls,
    },
    { ...place(2, 'Return it.'), kind: 'return', value: { form: 'expression', source: '_', calls: [] } },
  ]
}

/** The variables that a condition depends on, as far as it says. */
export function readsOf(compiled: CompiledProgram, condition: Condition): readonly string[] {
  if (condition.kind === 'judged' && condition.known === undefined) return condition.reads
  const computation = condition.kind === 'judged' ? condition.known!.value : condition.value
  const judged = condition.kind === 'judged' ? condition.reads : []
  const { calls, value } = compiled.truth(computation)
  const named = calls.flatMap((call) => [...call.positional, ...call.named.map(([, each]) => each)])
  return [...new Set([...judged, ...value.reads, ...named.flatMap(({ reads }) => reads)])]
}

function compileComputation(computation: Computation, compile: typeof compileValue): CompiledComputation {
  return {
    calls: computation.calls.map(({ target, positional, named }) => ({
      target,
      positional: positional.map(argument),
      named: Object.entries(named).map(([name, source]) => [name, argument(source)] as const),
    })),
    value: checkedValue(compile(computation.source, computation.form)),
  }
}

function argument(source: string): CompiledValue {
  return checkedValue(compileValue(source, 'expression'))
}

function remember<Key, Value>(known: Map<Key, Value>, key: Key, make: () => Value): Value {
  let value = known.get(key)
  if (value === undefined) known.set(key, (value = make()))
  return value
}
