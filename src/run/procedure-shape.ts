import type { CompiledCall } from '../playbook/compile-call.ts'
import type { CompiledPlaybook, CompiledStep } from '../playbook/compile-playbook.ts'

/** What the run machine asks about the calls of a playbook again and again, worked out once. */
export interface ProcedureShape {
  /** Some step is a call that the runtime makes. */
  readonly hasCalls: boolean
  /** Every step is one, so that no model works on the run. */
  readonly isRunbook: boolean
  /** What was done may have to be undone, so that settlements say how. */
  readonly compensates: boolean
  /** The tools that only the runtime calls: no step that a model works on names them. */
  readonly reserved: ReadonlySet<string>
  /** The positions of the steps that name a tool and that a model works on, in order. */
  readonly stepsByTool: ReadonlyMap<string, readonly number[]>
  /** The calls whose arguments may change before they are first made, because they look at steps that go on meanwhile. */
  readonly unsteady: readonly number[]
}

const shapes = new WeakMap<CompiledPlaybook, ProcedureShape>()

/** The shape of a playbook; the same object for the same playbook. */
export function shapeOf(compiled: CompiledPlaybook): ProcedureShape {
  let shape = shapes.get(compiled)
  if (shape === undefined) {
    shape = workOut(compiled)
    shapes.set(compiled, shape)
  }
  return shape
}

function workOut(compiled: CompiledPlaybook): ProcedureShape {
  const { playbook, steps } = compiled
  const calls = steps.filter((step) => step.call !== null)
  const compensates = playbook.onFailure === 'compensate' || playbook.onCancel === 'compensate'
  if (calls.length === 0) {
    const { stepsByTool } = compiled
    const none = { hasCalls: false, isRunbook: false, reserved: new Set<string>(), unsteady: [] }
    return { ...none, compensates, stepsByTool }
  }
  const stepsByTool = new Map<string, number[]>()
  for (const step of steps) {
    for (const tool of step.call === null ? step.tools : []) {
      const list = stepsByTool.get(tool)
      if (list === undefined) stepsByTool.set(tool, [step.index])
      else list.push(step.index)
    }
  }
  const named = calls.flatMap(({ call }) => [call!.tool, call!.verify?.tool, call!.compensate?.tool])
  return {
    hasCalls: true,
    isRunbook: calls.length === steps.length,
    compensates,
    reserved: new Set(named.filter((tool) => tool !== undefined && !stepsByTool.has(tool)) as string[]),
    stepsByTool,
    unsteady: calls.filter((step) => isUnsteady(compiled, step)).map(({ index }) => index),
  }
}

/** A call that comes before is over and done with; a model's step may linger, and one beside goes on. */
function isUnsteady(compiled: CompiledPlaybook, step: CompiledStep): boolean {
  return stepsReadBy(step.call!).some((id) => {
    const index = compiled.positions.get(id)
    if (index === undefined) return false
    return compiled.steps[index]!.call === null || !compiled.precedes(index, step.index)
  })
}

function stepsReadBy({ input, foreach }: CompiledCall): string[] {
  return [input, foreach].flatMap((each) =>
    (each?.templates ?? []).flatMap(({ template }) =>
      template.references.flatMap(({ name, path }) => (name === 'steps' ? path.slice(0, 1) : [])),
    ),
  )
}
