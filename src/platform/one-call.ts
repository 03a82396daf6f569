import { definePlaybook } from '../playbook/define-playbook.ts'
import type { Playbook } from '../playbook/playbook.ts'
import type { Json, JsonObject } from '../shared/json.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import type { Tool } from '../tool/tool.ts'
import type { CatalogueTool, ToolCatalogue } from './tool-catalogue.ts'

/** The step of a playbook that is one call. */
export const onlyStep = 'call'

/** A playbook of one step that makes one call, and the inputs with which it makes it. The arguments are values, never templates. */
export function oneCall(
  tool: Pick<Tool, 'name'>,
  args: JsonObject,
): { playbook: Playbook; inputs: JsonObject } {
  const names = Object.keys(args)
  const inputs: Record<string, Json> = {}
  for (const [index, name] of names.entries()) inputs[`a${index}`] = args[name]!
  const playbook = definePlaybook({
    id: 'one-call',
    name: `Call ${tool.name}`,
    inputs: Object.fromEntries(Object.keys(inputs).map((name) => [name, { type: 'any' as const }])),
    steps: [
      {
        id: onlyStep,
        tool: tool.name,
        input: Object.fromEntries(names.map((name, index) => [name, `{inputs.a${index}}`])),
      },
    ],
  })
  return { playbook, inputs }
}

/** The tool with the name; throws `unknown_tool` if there is none. */
export function findTool({ tools }: Pick<ToolCatalogue, 'tools'>, name: string): CatalogueTool {
  const found = tools.find(({ tool }) => tool.name === name)
  if (found !== undefined) return found
  throw new LockstepError('unknown_tool', `There is no tool ${name}.`, { hint: 'GET /tools lists them.' })
}
