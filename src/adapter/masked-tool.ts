import type { JsonObject } from '../shared/json.ts'
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
  const { reconcile } = tool
  return Object.freeze({
    ...tool,
    reconcile:
      reconcile === null
        ? null
        : async (key: string, args: JsonObject) => {
            const said = readResult(await reconcile(key, args))
            return said === undefined ? undefined : vault.maskJson(said)
          },
    execute: masked(tool.execute),
    dryRun: tool.dryRun === null ? null : masked(tool.dryRun),
  })
}

/** An error that says the same without the secrets; one that states that nothing was applied still does. */
function maskError(error: unknown, vault: SecretVault): Error {
  const message = vault.maskText(messageOf(error))
  return error instanceof ToolFailure ? new ToolFailure(message) : new Error(message)
}
