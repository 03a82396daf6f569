import { ToolFailure } from '../../tool/tool-failure.ts'
import { tool, type Risk, type Tool } from '../../tool/tool.ts'

/** A tool in the place of one of a server that is not started; the risk is what the configuration says of it, if anything. */
export interface StandInTool {
  readonly tool: Tool
  readonly origin: string
  readonly riskDeclared: boolean
}

/** Tools in the place of those of servers that are not started: they can be judged and shown, never called. */
export function standInTools(
  servers: readonly string[],
  needed: readonly string[],
  riskOf: (server: string, tool: string) => Risk | undefined,
): StandInTool[] {
  return servers.flatMap((server) =>
    needed
      .filter((name) => name.startsWith(`${server}/`))
      .map((name) => {
        const risk = riskOf(server, name.slice(server.length + 1))
        const standIn = tool({
          name,
          description: `A tool of the MCP server '${server}', which is not started in a dry run.`,
          ...(risk === undefined ? {} : { risk }),
          execute: () => {
            throw new ToolFailure(`The MCP server '${server}' was not started, so nothing was sent`)
          },
        })
        return { tool: standIn, origin: `mcp ${server}`, riskDeclared: risk !== undefined }
      }),
  )
}
