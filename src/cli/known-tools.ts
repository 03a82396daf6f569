import { openTools, practiceDeclarations } from '../app.ts'
import type { ProgramTool } from '../playbook/markdown/callables.ts'
import { escapeControl } from '../shared/escape-control.ts'
import type { Config } from '../source/config.ts'
import { isCode, loadConfig, loadConfigDocument } from '../source/load-config.ts'
import { type KnownTool, programTool } from '../playbook/program-tool.ts'
import { findConfigFor } from './open-config.ts'
import type { Terminal } from './terminal.ts'

/** What is known of the tools that a playbook may call, and whether that is all there are. */
export interface KnownTools {
  readonly tools: readonly ProgramTool[]
  /** What the configuration says of them. */
  readonly declared: readonly KnownTool[]
  readonly complete: boolean
}

/** The tools that a configuration declares, found out without running anything: those of modules and MCP servers are not known. */
export function declaredTools(file: string, terminal: Terminal): KnownTools {
  try {
    const path = findConfigFor(file)
    if (path === null) return { tools: [], declared: [], complete: true }
    if (isCode(path)) return { tools: [], declared: [], complete: false }
    const config = loadConfigDocument(path)
    const declared = inConfig(config)
    return { tools: declared.map(programTool), declared, complete: isPlain(config) }
  } catch (error) {
    // What is wrong with the configuration is not what was asked; but that it was not considered must be said.
    terminal.err(`lockstep: not considered: ${escapeControl((error as Error).message)}\n`)
    return { tools: [], declared: [], complete: false }
  }
}

/** All tools that a playbook may call. Modules are loaded and MCP servers asked; no tool is called. */
export async function knownTools(
  file: string,
  named: string | undefined,
  terminal: Terminal,
): Promise<readonly ProgramTool[]> {
  const path = named ?? findConfigFor(file)
  if (path === null) return []
  const config = await loadConfig(path)
  if (isPlain(config)) return inConfig(config).map(programTool)
  const bound = await openTools(config, { onNotice: (text) => terminal.err(`${escapeControl(text)}\n`) })
  try {
    return bound.tools.map(({ tool }) => programTool(tool))
  } finally {
    await bound.close()
  }
}

/** What a configuration itself says of tools. */
function inConfig({ http, exec, practice }: Config): readonly KnownTool[] {
  return [...http, ...exec, ...(practice ? practiceDeclarations : [])]
}

/** Whether all tools stand in the configuration itself. */
function isPlain(config: Config): boolean {
  return config.modules.length === 0 && Object.keys(config.mcpServers).length === 0
}
