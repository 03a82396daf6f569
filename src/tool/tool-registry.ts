import { nearestName } from '../shared/nearest-name.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import type { Tool } from './tool.ts'

/** The tools of a run, by name. There is one for each name. */
export class ToolRegistry implements Iterable<Tool> {
  readonly #tools = new Map<string, Tool>()

  /** Throws `duplicate_tool` if two share a name, `invalid_tool` for what is none. */
  constructor(tools: Iterable<Tool> = []) {
    for (const tool of tools) this.add(tool)
  }

  /** Adds a tool. Throws `duplicate_tool` if its name is taken, `invalid_tool` for what no `tool(...)` made. */
  add(tool: Tool): void {
    const { name, execute, checkArguments } = Object(tool) as Partial<Record<keyof Tool, unknown>>
    if (typeof name !== 'string' || typeof execute !== 'function' || typeof checkArguments !== 'function') {
      throw new LockstepError(
        'invalid_tool',
        `${typeof name === 'string' ? `'${name}'` : 'What was given'} is no tool.`,
        {
          hint: 'Make it with tool({ name, description, execute }).',
        },
      )
    }
    if (this.#tools.has(tool.name)) {
      throw new LockstepError('duplicate_tool', `There is a tool '${tool.name}' already.`, {
        hint: 'Give one of the two another name, or leave one out.',
      })
    }
    this.#tools.set(tool.name, tool)
  }

  /** The tool with the name, or null. */
  get(name: string): Tool | null {
    return this.#tools.get(name) ?? null
  }

  /** Says whether there is a tool with the name. */
  has(name: string): boolean {
    return this.#tools.has(name)
  }

  /** The names, in the order in which the tools were added. */
  get names(): string[] {
    return [...this.#tools.keys()]
  }

  /** The name that was probably meant, or null. */
  nearest(name: string): string | null {
    return nearestName(name, this.#tools.keys())
  }

  [Symbol.iterator](): Iterator<Tool> {
    return this.#tools.values()
  }
}
