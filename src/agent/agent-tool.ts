import type { JsonObject } from '../shared/json.ts'
import type { JsonSchema } from '../shared/json-schema.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import { messageOf } from '../shared/message-of.ts'
import { ToolFailure } from '../tool/tool-failure.ts'
import { stricterRisk, tool, type Risk, type Tool } from '../tool/tool.ts'
import type { Agent } from './agent.ts'
import type { AgentResult } from './agent-options.ts'
import { currentLineage } from './lineage.ts'

/** How an agent is handed to another as a tool. */
export interface AgentToolDefinition {
  readonly name: string
  readonly description: string
  /** What the tool takes. Default: one text, `prompt`. */
  readonly input?: JsonSchema
  /** The task, made from the arguments. Needed where `input` is given. */
  readonly prompt?: (args: JsonObject) => string
  /** The inputs of the agent's playbook, made from the arguments. */
  readonly inputs?: (args: JsonObject) => Readonly<Record<string, unknown>>
  readonly timeoutSeconds?: number
  readonly maxResultBytes?: number
}

const onlyPrompt: JsonSchema = {
  type: 'object',
  properties: { prompt: { type: 'string' } },
  required: ['prompt'],
  additionalProperties: false,
}

/**
 * An agent as a tool of another (G18). Each call is a run of its own under the call of the run above: what it may do is what both may
 * do, because every call it makes has to be admitted by the gates above as well; it spends their budgets, and is cancelled with
 * them. Its risk is the worst of its tools'. The call succeeds with the agent's final answer; if the agent ends otherwise it has
 * failed, or is of unknown outcome where something was done already. Throws `invalid_tool` for a declaration that is none.
 */
export function agentTool(agent: Agent, definition: AgentToolDefinition): Tool {
  const { name, description, input = onlyPrompt, prompt, inputs, ...limits } = definition
  if (definition.input !== undefined && prompt === undefined) {
    throw new LockstepError('invalid_tool', `The agent tool '${name}' has an input and no prompt.`, {
      hint: 'Say how the task is made from the arguments: prompt: (args) => …',
    })
  }
  const bare = tool({
    name,
    description,
    input,
    risk: worstRisk(agent),
    ...limits,
    execute: async (args: JsonObject, { signal }) => {
      if (currentLineage().length === 0) {
        throw new ToolFailure(`'${name}' is an agent, and is only run as a tool of another agent`)
      }
      const given = inputs === undefined ? {} : { inputs: inputs(args) }
      const task = prompt === undefined ? String(args['prompt']) : prompt(args)
      const result = await agent.run(task, { signal, ...given }).catch((error: unknown) => {
        // Its record broke, or it could not start; either is the child's trouble, and not that of the run above.
        if (LockstepError.isInstance(error) && error.code !== 'record_failed')
          throw new ToolFailure(error.message)
        throw new Error(messageOf(error), { cause: error })
      })
      if (result.status === 'succeeded') return result.message
      throw unfinished(agent, name, result)
    },
  })
  return Object.freeze({ ...bare, tellsModel: true })
}

function worstRisk(agent: Agent): Risk {
  return [...agent.tools].reduce<Risk>((worst, each) => stricterRisk(worst, each.risk), 'read')
}

/** What a run that did not succeed leaves behind, truthfully. */
function unfinished(agent: Agent, name: string, result: AgentResult): Error {
  const tools = new Map<unknown, unknown>()
  const done = result.snapshot.entries.flatMap(({ type, data }) => {
    if (type === 'tool.admitted') tools.set(data['callId'], data['tool'])
    const settled = type === 'tool.settled' && ['succeeded', 'unknown'].includes(String(data['outcome']))
    const called = String(tools.get(data['callId']))
    return settled && agent.tools.get(called)?.risk !== 'read' ? [called] : []
  })
  const ended = `${name} ended ${result.status}: ${result.reason ?? 'no reason was given'} (run ${result.run})`
  return done.length === 0
    ? new ToolFailure(`${ended}; it had changed nothing`)
    : new Error(`${ended}; it had called ${[...new Set(done)].join(', ')} before`)
}
