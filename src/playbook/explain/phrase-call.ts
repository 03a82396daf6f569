import type { Call, Computation, Procedure, Program } from '../program.ts'
import { conversing } from './converses.ts'
import { phraseExpression } from './phrase-expression.ts'

/** Finds what calls mean by their targets. */
export interface ProgramNames {
  readonly procedures: ReadonlyMap<string, Procedure>
  /** The playbooks in which a person may speak. */
  readonly speaking: ReadonlySet<string>
  /** What the tools can do; empty where nobody knows. */
  readonly risks: ToolRisks
}

/** What tools can do, by name. */
export type ToolRisks = ReadonlyMap<string, 'read' | 'write' | 'irreversible'>

/** The playbooks of a program by id. */
export function namesOf(program: Program, risks: ToolRisks): ProgramNames {
  const all = program.agents.flatMap(({ playbooks }) => playbooks)
  return {
    procedures: new Map(all.map((procedure) => [procedure.id, procedure])),
    speaking: conversing(all),
    risks,
  }
}

/** What a call is of: the name of a tool, or of a playbook as its heading says. */
export function phraseTarget(target: Call['target'], names: ProgramNames): string {
  return target.kind === 'tool' ? target.name : (names.procedures.get(target.id)?.name ?? target.id)
}

/** A call as it would be written: `lookup_order(order_id = the order number)`. */
export function phraseCall(call: Call, earlier: readonly string[], names: ProgramNames): string {
  const given = phraseArguments(call, earlier, names)
  return `${phraseTarget(call.target, names)}(${given.join(', ')})`
}

/** A call as something to do: "call lookup_order with order_id = the order number", "run Validate order id with …". */
export function phraseDoing(call: Call, earlier: readonly string[], names: ProgramNames): string {
  const given = phraseArguments(call, earlier, names)
  const verb = call.target.kind === 'tool' ? 'call' : 'run'
  const rest = given.length === 0 ? '' : ` with ${given.join(', ')}`
  return `${verb} ${phraseTarget(call.target, names)}${rest}`
}

/** The phrases of the calls that a computation makes, in order; each may read those before it. */
export function phraseCalls(computation: Computation, names: ProgramNames): readonly string[] {
  const phrases: string[] = []
  for (const call of computation.calls) phrases.push(phraseCall(call, phrases, names))
  return phrases
}

function phraseArguments(call: Call, earlier: readonly string[], names: ProgramNames): string[] {
  const { target } = call
  const parameters = target.kind === 'tool' ? [] : (names.procedures.get(target.id)?.parameters ?? [])
  const positional = call.positional.map((source, index) => {
    const value = phraseExpression(source, earlier)
    const name = parameters[index]?.name
    return name === undefined ? value : `${name} = ${value}`
  })
  const named = Object.entries(call.named).map(
    ([name, source]) => `${name} = ${phraseExpression(source, earlier)}`,
  )
  return [...positional, ...named]
}
