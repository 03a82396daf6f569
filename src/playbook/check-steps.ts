import { type CheckContext, namedTools, stepPath } from './check-context.ts'
import type { StepDraft } from './playbook-draft.ts'
import { clip } from './wording.ts'

/** Reports what is wrong with steps by themselves: ids, tools named twice, and steps that could never be complete. */
export function checkSteps(context: CheckContext): void {
  checkIds(context)
  const named = new Set(context.draft.steps.flatMap((step) => step.expected_tools))
  for (const step of context.draft.steps) {
    if (step.broken('expected_tools') || step.broken('tool')) continue
    if (step.tool !== null) {
      checkCallArguments(step, step.tool, context)
      checkCallCount(step, context)
      continue
    }
    checkToolList(step, context)
    checkArguments(step, named, context)
    checkCompletion(step, context)
  }
}

/** What a call's own arguments must satisfy may be said; those of other calls are not made here. */
function checkCallArguments(step: StepDraft, called: string, { report, wording }: CheckContext): void {
  for (const tool of step.broken('arguments') ? [] : Object.keys(step.arguments)) {
    if (tool === called) continue
    report(
      'unexpected_arguments',
      stepPath(step, 'arguments', tool),
      `${wording.step(step.index)} has ${wording.key('arguments')} for \`${tool}\`, but it is a call of \`${called}\``,
      { at: 'key', suggestion: 'make it a rule of the playbook' },
    )
  }
}

/** One call gives one result, whatever is asked of it. */
function checkCallCount(step: StepDraft, { report, wording }: CheckContext): void {
  const least = step.broken('validation') ? 0 : (step.validation.min_tool_calls ?? 0)
  if (least < 2 || step.foreach !== null || step.verify !== null) return
  report(
    'impossible_completion',
    stepPath(step, 'validation', 'min_tool_calls'),
    `${wording.step(step.index)} can never be complete: ${wording.key('min_tool_calls')} asks for ${least} calls, and it is one`,
    { suggestion: `remove it, or go through a list with ${wording.key('foreach')}` },
  )
}

function checkIds({ draft, report, wording, nameOf }: CheckContext): void {
  const first = new Map<string, number>()
  for (const step of draft.steps) {
    if (step.broken('id')) continue
    const earlier = first.get(step.id)
    if (earlier === undefined) first.set(step.id, step.index)
    else if (nameOf(step.index) !== null && nameOf(step.index) !== nameOf(earlier)) {
      const message = `steps ${earlier + 1} and ${step.index + 1} get the same ${wording.key('id')}: the name \`${clip(nameOf(step.index)!)}\` makes \`${step.id}\` too`
      report('duplicate_step', stepPath(step, 'id'), message, {
        suggestion: `give one of them another name, or an ${wording.key('id')}`,
      })
    } else {
      const message = `duplicate step ${wording.key('id')} \`${step.id}\`: steps ${earlier + 1} and ${step.index + 1} share it`
      report('duplicate_step', stepPath(step, 'id'), message)
    }
  }
}

function checkToolList(step: StepDraft, { report, wording }: CheckContext): void {
  const seen = new Set<string>()
  step.expected_tools.forEach((tool, index) => {
    if (!seen.has(tool)) {
      seen.add(tool)
      return
    }
    const path = stepPath(step, 'expected_tools', index)
    report('duplicate_item', path, `${wording.place(path)} names \`${tool}\` twice`)
  })
}

function checkArguments(
  step: StepDraft,
  named: ReadonlySet<string>,
  { report, wording }: CheckContext,
): void {
  const expected = new Set(step.expected_tools)
  for (const tool of step.broken('arguments') ? [] : Object.keys(step.arguments)) {
    // An extra is a tool that no step names, so `*` reaches those only.
    const isExtra = expected.has('*') && !named.has(tool)
    if (expected.has(tool) || isExtra) continue
    report(
      'unexpected_arguments',
      stepPath(step, 'arguments', tool),
      `${wording.step(step.index)} has ${wording.key('arguments')} for \`${tool}\`, which it does not expect`,
      {
        at: 'key',
        suggestion: `add it to ${wording.key('expected_tools')}, or make it a rule of the playbook`,
      },
    )
  }
}

function checkCompletion(step: StepDraft, context: CheckContext): void {
  if (step.broken('complete_when') || step.broken('validation')) return
  const { report, wording } = context
  const tools = namedTools(step).size
  const { complete_when: completion, validation } = step
  const name = wording.step(step.index)
  const never = (key: string, message: string) =>
    report(
      'impossible_completion',
      stepPath(step, ...key.split('.')),
      `${name} can never be complete: ${message}`,
    )

  const counts = completion === 'all' || completion === 'any' || typeof completion === 'number'
  if (counts && tools === 0) {
    never(
      'complete_when',
      `${wording.key('complete_when')} is ${completion}, and ${wording.key('expected_tools')} names no tool`,
    )
    return
  }
  if (typeof completion === 'number' && completion > tools) {
    never(
      'complete_when',
      `${wording.key('complete_when')} asks for ${completion} tools, and there are ${tools}`,
    )
    return
  }
  const demands = {
    min_tool_calls: validation.min_tool_calls ?? 0,
    required_result_keywords: (validation.required_result_keywords ?? []).length > 0 ? 1 : 0,
    result_schema: validation.result_schema === undefined ? 0 : 1,
  }
  for (const [key, calls] of Object.entries(demands)) {
    // Extras complete no step, but in one with `*` they count as calls and give results.
    if (calls === 0 || step.expected_tools.length > 0) continue
    never(`validation.${key}`, `${wording.key(key)} asks for results of calls, and there is no tool to call`)
  }
  checkCap(step, tools, Math.max(...Object.values(demands)), context)
}

function checkCap(step: StepDraft, tools: number, minimum: number, { report, wording }: CheckContext): void {
  const { max_tool_calls: cap, complete_when: completion } = step
  if (
    cap === null ||
    step.broken('max_tool_calls') ||
    step.broken('on_limit') ||
    step.expected_tools.length === 0
  )
    return
  const asked = completion === 'any' ? 1 : typeof completion === 'number' ? completion : tools
  const byCompletion =
    completion === 'all' || completion === 'any' || completion === null || typeof completion === 'number'
  // With `advance`, reaching the cap is a way on, so only what validation asks for must fit below it.
  const needed = Math.max(minimum, byCompletion && step.on_limit !== 'advance' ? asked : 0)
  if (cap >= needed) return
  report(
    'cap_too_low',
    stepPath(step, 'max_tool_calls'),
    `${wording.key('max_tool_calls')} of ${wording.step(step.index)} is ${cap}, but completing the step takes at least ${needed} ${needed === 1 ? 'call' : 'calls'}`,
  )
}
