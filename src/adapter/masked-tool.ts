import { messageOf } from '../shared/message-of.ts'
import { readResult } from '../tool/run-tool.ts'
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
        const result = readResult(await work(args, context))
        return result === undefined ? undefined : vault.maskJson(result)
      } catch (error) {
        throw maskError(error, vault)
      }
    }
  const { reconcile: ask } = tool
  const reconcile: typeof ask = async (key, args, context) => {
    try {
      const said = readResult(await ask?.(key, args, context))
      return said === undefined ? undefined : vault.maskJson(said)
    } catch (error) {
      throw maskError(error, vault)
    }
  }
  return Object.freeze({
    ...tool,
    reconcile: ask === null ? null : reconcile,
    execute: masked(tool.execute),
    dryRun: tool.dryRun === null ? null : masked(tool.dryRun),
  })
}

/** An error that says the same without the secrets; one that states that nothing was applied still does. */
function maskError(error: unknown, vault: SecretVault): Error {
  const message = vault.maskText(messageOf(error))
  return error instanceof ToolFailure ? new ToolFailure(message) : new Error(message)
}
