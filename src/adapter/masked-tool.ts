import { messageOf } from '../shared/message-of.ts'
import { toJson } from '../shared/to-json.ts'
import { ToolFailure } from '../tool/tool-failure.ts'
import type { Tool } from '../tool/tool.ts'
import type { SecretVault } from './secret-vault.ts'

type Work = Tool['execute']

/** The tool with every secret masked in what it returns and in what it throws, before anybody sees or records it. */
export function maskTool(tool: Tool, vault: SecretVault): Tool {
  const masked =
    (work: Work): Work =>
    async (args, context) => {
      try {
        const value = await work(args, context)
        if (value === undefined) return undefined
        const reading = toJson(value)
        return reading.problem === null ? vault.maskJson(reading.value) : value
      } catch (error) {
        throw maskError(error, vault)
      }
    }
  return Object.freeze({
    ...tool,
    execute: masked(tool.execute),
    dryRun: tool.dryRun === null ? null : masked(tool.dryRun),
  })
}

/** An error that says the same without the secrets; one that states that nothing was applied still does. */
function maskError(error: unknown, vault: SecretVault): Error {
  const message = vault.maskText(messageOf(error))
  return error instanceof ToolFailure ? new ToolFailure(message) : new Error(message)
}
