import type { Playbook } from '../playbook/playbook.ts'
import type { Json, JsonObject } from '../shared/json.ts'
import type { KnownTool } from '../playbook/program-tool.ts'
import type { SecretResolver } from '../tool/secret-resolver.ts'
import type { Tool } from '../tool/tool.ts'

/** A tool that runs may call, and where it comes from. */
export interface CatalogueTool {
  readonly tool: Tool
  /** For people: `http POST https://shop.example/orders`, `exec node`, `mcp files`, `practice`. */
  readonly origin: string
  /** Whether it acts on the practice service, where nothing is real. */
  readonly practice: boolean
}

/** The tools of one run. */
export interface RunTools {
  readonly tools: readonly Tool[]
  readonly secrets: SecretResolver
  readonly maskText: (text: string) => string
  readonly maskJson: (value: Json) => Json
  close(): Promise<void>
}

/** What tools are bound for. */
export interface ToolBinding {
  readonly inputs: JsonObject
  readonly secrets: Playbook['secrets']
  /** Whether nothing is to be called. */
  readonly dry: boolean
}

/** The tools of this process. */
export interface ToolCatalogue {
  readonly tools: readonly CatalogueTool[]
  /** Binds them for a run. */
  bind(binding: ToolBinding): Promise<RunTools>
  close(): Promise<void>
}

/** What checks of texts may know of the tools. */
export function knownTools({ tools }: Pick<ToolCatalogue, 'tools'>): readonly KnownTool[] {
  return tools.map(({ tool }) => tool)
}
