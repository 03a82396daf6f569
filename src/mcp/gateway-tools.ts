import type { CallToolResult, Tool as ListedTool } from '@modelcontextprotocol/server'
import type { Playbook } from '../playbook/playbook.ts'
import type { Json, JsonObject } from '../shared/json.ts'
import { controlTools } from '../tool/control-tool.ts'
import { matchTools } from '../tool/match-tools.ts'
import type { ToolRegistry } from '../tool/tool-registry.ts'
import type { Tool } from '../tool/tool.ts'
import { bindTools, type BoundTool, type BoundTools } from './bind-tools.ts'
import type { DefinitionLock } from './definition-lock.ts'
import { Passage, type PassingServer } from './passage.ts'
import { renameResources } from './passed-name.ts'

/** The tools behind a gateway, however they are reached. */
export interface Upstream {
  readonly tools: readonly Tool[]
  /**
   * The tools that no server gives, bound to the inputs of a run. They go by their own names and are not pinned: who declares them is who
   * reviews them.
   */
  readonly own?: (inputs: JsonObject) => readonly Tool[]
  /** What the server says a tool is, now, by its full name; null if it does not have it. */
  definition(full: string): JsonObject | null
  /** Waits until what a server announced about its tools is known; absent where nothing is announced. */
  settled?(full: string): Promise<void>
  /** The answer to a call as the server gave it, once, by its idempotency key; null if there is none. */
  takeAnswer(key: string): CallToolResult | null
  /** The servers of which more passes than tools. */
  readonly passing?: readonly PassingServer[]
}

const runArgument = 'lockstep_run'

/** What a gateway offers for a playbook: a list that never changes while it is served. */
export class GatewayTools {
  readonly playbook: Playbook
  readonly bound: BoundTools
  /** What passes besides tools. */
  readonly passage: Passage
  readonly #upstream: Upstream
  readonly #lock: DefinitionLock | null
  readonly #observe: boolean

  /** Throws `unknown_tool` if the playbook names a tool that no server has. */
  constructor(playbook: Playbook, upstream: Upstream, lock: DefinitionLock | null, observe: boolean) {
    this.playbook = playbook
    this.#upstream = upstream
    this.#lock = lock
    this.#observe = observe
    this.passage = new Passage(upstream.passing ?? [])
    this.bound = bindTools(playbook, upstream.tools, upstream.own?.({}))
    matchTools(playbook, this.bound.registry)
  }

  /** The tools as a run with these inputs calls them. */
  registryFor(inputs: JsonObject): ToolRegistry {
    const { own } = this.#upstream
    return own === undefined ? this.bound.registry : this.bound.registryWith(own(inputs))
  }

  /** Waits until it is known what a tool is, if its server just said that it changed. */
  async settled(name: string): Promise<void> {
    await this.#upstream.settled?.(this.bound.get(name)?.full ?? name)
  }

  /** Why a tool may not be used although the playbook would allow it: it is not what was reviewed. */
  veto(name: string): string | null {
    const bound = this.bound.get(name)
    if (bound === null || bound.server === null || this.#lock === null) return null
    return this.#lock.refusal(bound.full, this.#upstream.definition(bound.full))
  }

  /** The answer of a server to a call of this tool, with links to resources that lead through the gateway where resources pass. */
  takeAnswer(name: string, key: string): CallToolResult | null {
    const answer = this.#upstream.takeAnswer(key)
    const server = this.bound.get(name)?.server ?? null
    if (answer === null || server === null || !this.passage.passesResources(server)) return answer
    const content = answer.content.map((part) => renameResources(part as unknown as Json, server))
    return { ...answer, content: content as unknown as CallToolResult['content'] }
  }

  /** The tools that are not what was reviewed, with the reason. */
  refused(): string[] {
    return this.#offered().flatMap(({ name }) => this.veto(name) ?? [])
  }

  /** The list that clients get: the playbook's tools and the procedure's own. `handles` makes every call name its run. */
  list(handles: boolean): ListedTool[] {
    const tools = this.#offered().map((each) => this.#listed(each))
    const own = [
      ...controlTools(null, true).map(({ name, description, input }) => ({
        name,
        description,
        inputSchema: input as ListedTool['inputSchema'],
      })),
      {
        name: 'finish',
        description:
          'Hands in the final answer. It is sent back with what is missing while required steps are open.',
        inputSchema: { type: 'object' as const, properties: { message: { type: 'string' } } },
      },
    ]
    if (!handles) return [...tools, ...own]
    const start = {
      name: 'start_run',
      description: `Begins a run of the procedure. Its answer names the run: pass it as ${runArgument} with every call.`,
      inputSchema: {
        type: 'object' as const,
        properties: {
          inputs: { type: 'object', description: 'The inputs of the procedure, if it has any.' },
        },
      },
    }
    return [start, ...[...tools, ...own].map(withRun)]
  }

  /** Extras are offered only where the playbook admits them; who observes sees what the agent would really use. */
  #offered(): readonly BoundTool[] {
    const { steps, allowExtraTools } = this.playbook
    const named = new Set(steps.flatMap((step) => step.expectedTools))
    if (this.#observe || allowExtraTools || named.has('*')) return this.bound.all
    return this.bound.all.filter(({ name }) => named.has(name))
  }

  #listed({ server, full, shown, tool }: BoundTool): ListedTool {
    if (server === null) {
      const schema = typeof tool.input === 'object' ? tool.input : {}
      // Arguments are always an object, whether or not the schema says so.
      return { name: shown, description: tool.description, inputSchema: { ...schema, type: 'object' } }
    }
    // Only what was reviewed reaches a model: a description is an instruction to it.
    const definition = this.#lock === null ? this.#upstream.definition(full) : this.#lock.pinned(full)
    const { title, description, inputSchema, outputSchema, annotations } = (definition ??
      {}) as Partial<ListedTool>
    return {
      name: shown,
      ...(title === undefined ? {} : { title }),
      description:
        definition === null && this.#lock !== null
          ? 'Not reviewed: it cannot be called.'
          : (description ?? tool.description),
      inputSchema: inputSchema ?? { type: 'object' },
      ...(outputSchema === undefined ? {} : { outputSchema }),
      ...(annotations === undefined ? {} : { annotations }),
    }
  }
}

/** Takes the run's handle out of the arguments of a call. */
export function takeRun(args: JsonObject): { run: string | null; args: JsonObject } {
  const { [runArgument]: run, ...rest } = args
  return { run: typeof run === 'string' ? run : null, args: rest }
}

function withRun(tool: ListedTool): ListedTool {
  const { inputSchema } = tool
  return {
    ...tool,
    inputSchema: {
      ...inputSchema,
      properties: {
        ...inputSchema.properties,
        [runArgument]: { type: 'string', description: 'The run this call belongs to, from start_run.' },
      },
      required: [...(inputSchema.required ?? []), runArgument],
    },
  }
}
