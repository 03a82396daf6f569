import { compilePlaybook } from '../playbook/compile-playbook.ts'
import { matchesName } from '../playbook/match-name.ts'
import type { Playbook } from '../playbook/playbook.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import { controlToolNames } from '../tool/control-tool.ts'
import { ToolRegistry } from '../tool/tool-registry.ts'
import type { Tool } from '../tool/tool.ts'

/** The tools of the procedure itself, which no other tool may be called like. */
export const ownToolNames: readonly string[] = [...controlToolNames, 'finish', 'start_run']

/** A tool as the playbook names it, as clients are shown it, and as its server has it. */
export interface BoundTool {
  /** Null for a tool that no server gives. */
  readonly server: string | null
  readonly name: string
  readonly shown: string
  readonly full: string
  readonly tool: Tool
}

/** The tools of a gateway: by the playbook's names, and by those that clients use. */
export class BoundTools {
  readonly registry: ToolRegistry
  readonly all: readonly BoundTool[]
  readonly #byName: ReadonlyMap<string, BoundTool>
  readonly #byShown: ReadonlyMap<string, BoundTool>

  constructor(all: readonly BoundTool[]) {
    this.all = all
    this.registry = new ToolRegistry(all.map(({ tool, name }) => ({ ...tool, name })))
    this.#byName = new Map(all.map((each) => [each.name, each]))
    this.#byShown = new Map(all.map((each) => [each.shown, each]))
  }

  /** The name in the playbook of what a client calls; what nobody knows stays as it is, for the gate to refuse. */
  nameOf(called: string): string {
    return this.#byShown.get(called)?.name ?? called
  }

  /** The name clients use for a tool of the playbook. */
  shownOf(name: string): string {
    return this.#byName.get(name)?.shown ?? name
  }

  get(name: string): BoundTool | null {
    return this.#byName.get(name) ?? null
  }

  /** The same tools with others in the place of those that no server gives; their names are the same. */
  registryWith(own: readonly Tool[]): ToolRegistry {
    const served = this.all.filter(({ server }) => server !== null)
    return new ToolRegistry([...served.map(({ tool, name }) => ({ ...tool, name })), ...own])
  }
}

/**
 * Gives each tool `server/tool` the name that the playbook uses for it: the full one, or the bare one where only one server has such a
 * tool. Tools that no server gives (`own`) keep their names. Throws `duplicate_tool` if a bare name could mean two, or a name is one of
 * the procedure's own; `usage` if a step is a call, which nobody would make.
 */
export function bindTools(playbook: Playbook, tools: readonly Tool[], own: readonly Tool[] = []): BoundTools {
  const call = playbook.steps.find((step) => step.tool !== null)
  if (call !== undefined) {
    throw new LockstepError(
      'usage',
      `Step '${call.id}' is a call, and a gateway makes none: it judges those of its clients.`,
      {
        hint: 'Run the playbook with `lockstep run`, or name the tool in `expected_tools` instead.',
      },
    )
  }
  // What a rule binds or a condition asks about counts as named: a tool must not slip past a rule under its longer name.
  const asked = [...compilePlaybook(playbook).pastByTool.keys()]
  const patterns = [...playbook.rules.map((rule) => rule.tool), ...asked].filter((pattern) => pattern !== '*')
  const expected = new Set(playbook.steps.flatMap((step) => step.expectedTools))
  const isNamed = (name: string) =>
    expected.has(name) || patterns.some((pattern) => matchesName(pattern, name))
  const servers = new Set(tools.map((tool) => tool.name.slice(0, tool.name.indexOf('/'))))
  const taken = new Set(own.map(({ name }) => name))
  const served = tools.map((tool) => {
    const full = tool.name
    const slash = full.indexOf('/')
    const bare = full.slice(slash + 1)
    // A bare name that the playbook uses and another tool has is not resolved here but refused below: a rule must not bind only one of them.
    const short = isNamed(bare) || (servers.size === 1 && !taken.has(bare))
    return bind(tool, full.slice(0, slash), !isNamed(full) && short ? bare : full)
  })
  const bound = [...own.map((tool) => bind(tool, null, tool.name)), ...served]
  for (const key of ['name', 'shown'] as const) {
    const seen = new Map<string, BoundTool>()
    for (const each of bound) {
      const other = seen.get(each[key])
      if (other !== undefined && other.full === each.full) {
        throw new LockstepError('duplicate_tool', `There are two tools called '${each.full}'.`)
      }
      if (other !== undefined) {
        throw new LockstepError('duplicate_tool', `'${each[key]}' could be ${other.full} or ${each.full}.`, {
          hint: 'Write the full name, with the server, in the playbook.',
        })
      }
      seen.set(each[key], each)
      if (!ownToolNames.includes(each[key])) continue
      throw new LockstepError(
        'duplicate_tool',
        `'${each.full}' has the name of one of the procedure's own tools.`,
        {
          hint: 'Leave the tool out, or write its full name, with the server, in the playbook.',
        },
      )
    }
  }
  return new BoundTools(bound)
}

function bind(tool: Tool, server: string | null, name: string): BoundTool {
  // Models and clients take letters, digits, '_' and '-' in names; a slash is what most of them refuse.
  return { server, name, full: tool.name, shown: name.replaceAll('/', '__'), tool }
}
