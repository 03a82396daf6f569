import type { LanguageModelV4, LanguageModelV4FunctionTool } from '@ai-sdk/provider'
import type { JsonObject } from '../shared/json.ts'
import { controlMove } from '../tool/control-tool.ts'
import type { OfferedTool } from '../tool/tool.ts'
import type { ToolRegistry } from '../tool/tool-registry.ts'
import { wireNames, type WireNames } from './wire-name.ts'

/** What a service is told of a run's tools; each is written once for a run, however often it is offered. */
export class ToldTools {
  readonly #registry: ToolRegistry | null
  readonly #model: LanguageModelV4
  readonly #told = new Map<string, { readonly of: OfferedTool; readonly tool: LanguageModelV4FunctionTool }>()
  #wire: WireNames
  #count: number

  constructor(registry: ToolRegistry | null, model: LanguageModelV4) {
    this.#registry = registry
    this.#model = model
    const names = registry?.names ?? []
    this.#count = names.length
    this.#wire = wireNames(names, model)
  }

  /** The name that the service is told. */
  readonly encode = (name: string): string => this.#wire.encode(name)

  /** The name that the service meant. */
  readonly decode = (name: string): string => this.#wire.decode(name)

  /** The tools that are offered, as the service is told of them. */
  tell(offered: readonly OfferedTool[]): LanguageModelV4FunctionTool[] {
    const names = this.#registry?.names ?? []
    if (names.length !== this.#count) {
      // A host gave the agent another tool meanwhile.
      this.#count = names.length
      this.#wire = wireNames(names, this.#model)
      this.#told.clear()
    }
    return offered.map((tool) => this.#tell(tool))
  }

  #tell(of: OfferedTool): LanguageModelV4FunctionTool {
    const known = this.#told.get(of.name)
    // The procedure's own tools are always the same ones, and made anew each time.
    if (known !== undefined && (known.of === of || controlMove(of.name) !== null)) return known.tool
    const { name, description, input } = of
    const told = this.encode(name)
    const open: JsonObject = { type: 'object', properties: {}, additionalProperties: true }
    const tool = {
      type: 'function' as const,
      name: told,
      description: told === name ? description : `${name}: ${description}`,
      inputSchema: (typeof input === 'object' && input !== null
        ? input
        : open) as LanguageModelV4FunctionTool['inputSchema'],
    }
    this.#told.set(name, { of, tool })
    return tool
  }
}
