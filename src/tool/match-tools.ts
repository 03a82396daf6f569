import { compileProgram } from '../playbook/compile-program.ts'
import type { Playbook } from '../playbook/playbook.ts'
import type { PlaybookStep } from '../playbook/playbook-step.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import { ToolRegistry } from './tool-registry.ts'
import type { Tool } from './tool.ts'

/** Which playbooks were found to have all their tools: a registry loses none, and many runs of a playbook may begin. */
const matched = new WeakMap<ToolRegistry, WeakSet<Playbook>>()

/** The registry of a run, if it has one. Throws `unknown_tool` if the playbook names a tool that is not in it. */
export function matchTools(
  playbook: Playbook,
  tools: ToolRegistry | Iterable<Tool> | undefined,
): ToolRegistry | null {
  if (tools === undefined) return null
  const registry = tools instanceof ToolRegistry ? tools : new ToolRegistry(tools)
  const known = matched.get(registry)
  if (known?.has(playbook) === true) return registry
  const named = namedTools(playbook)
  const own = new Set(playbook.program === null ? [] : compileProgram(playbook.program).ownCalls)
  const missing = [...named].filter((tool) => !registry.has(tool) && !own.has(tool))
  if (missing.length === 0) {
    if (known === undefined) matched.set(registry, new WeakSet([playbook]))
    else known.add(playbook)
    return registry
  }
  const meant = missing.map((tool) => [tool, registry.nearest(tool)]).find(([, nearest]) => nearest !== null)
  throw new LockstepError(
    'unknown_tool',
    `The playbook '${playbook.id}' needs tools that are not registered: ${missing.join(', ')}.`,
    { hint: meant === undefined ? null : `Did you mean '${meant[1]}' instead of '${meant[0]}'?` },
  )
}

/** Every tool that a playbook names. */
export function namedTools(playbook: Playbook): ReadonlySet<string> {
  return new Set(playbook.steps.flatMap(toolsOf))
}

/** The tools that a step names: those a model may use in it, or those that the runtime calls. */
function toolsOf({ expectedTools, tool, verify, compensate }: PlaybookStep): readonly string[] {
  const calls = [tool, verify?.tool, compensate?.tool].filter((name) => typeof name === 'string')
  return [...expectedTools.filter((name) => name !== '*'), ...calls]
}
