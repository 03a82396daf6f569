import { compileProgram } from '../playbook/compile-program.ts'
import type { Playbook } from '../playbook/playbook.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import { ToolRegistry } from './tool-registry.ts'
import type { Tool } from './tool.ts'

/** The registry of a run, if it has one. Throws `unknown_tool` if the playbook names a tool that is not in it. */
export function matchTools(
  playbook: Playbook,
  tools: ToolRegistry | Iterable<Tool> | undefined,
): ToolRegistry | null {
  if (tools === undefined) return null
  const registry = tools instanceof ToolRegistry ? tools : new ToolRegistry(tools)
  const named = new Set(playbook.steps.flatMap((step) => step.expectedTools.filter((tool) => tool !== '*')))
  const own = new Set(playbook.program === null ? [] : compileProgram(playbook.program).ownCalls)
  const missing = [...named].filter((tool) => !registry.has(tool) && !own.has(tool))
  if (missing.length === 0) return registry
  const meant = missing.map((tool) => [tool, registry.nearest(tool)]).find(([, nearest]) => nearest !== null)
  throw new LockstepError(
    'unknown_tool',
    `The playbook '${playbook.id}' needs tools that are not registered: ${missing.join(', ')}.`,
    { hint: meant === undefined ? null : `Did you mean '${meant[1]}' instead of '${meant[0]}'?` },
  )
}
