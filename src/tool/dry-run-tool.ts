import { unknownArguments } from '../run/placeholder.ts'
import type { JsonObject } from '../shared/json.ts'
import { messageOf } from '../shared/message-of.ts'
import { readResult } from './run-tool.ts'
import { ToolFailure } from './tool-failure.ts'
import type { Tool } from './tool.ts'

/** What marks a result that came of no call. */
export const dryRunNote = 'This was a dry run: nothing was changed, and there is no real result.'

/** The stand-ins that make no call. */
const standIns = new WeakSet<Tool>()

/**
 * The tool without its effect: a call is shown as it would be made and is not made. It counts as succeeded, so that the run can go on,
 * and its result says what it is. With `callReads`, a tool that only reads is really called.
 */
export function dryRunTool(tool: Tool, { callReads }: { readonly callReads: boolean }): Tool {
  if (callReads && tool.risk === 'read') return tool
  const { dryRun } = tool
  const execute: Tool['execute'] = async (args, context) => {
    if (dryRun === null) {
      return { dry_run: true, note: dryRunNote, would: { tool: tool.name, arguments: args } }
    }
    try {
      return { dry_run: true, note: dryRunNote, would: readResult(await dryRun(args, context)) ?? null }
    } catch (error) {
      // Whatever went wrong, nothing was sent: a dry run never leaves an outcome unknown.
      throw new ToolFailure(messageOf(error), { cause: error })
    }
  }
  // Asking what became of a call that was never made would reach outside, and so would stopping or repeating it.
  const standIn = Object.freeze({
    ...tool,
    execute,
    checkArguments: (args: JsonObject) =>
      tool.checkArguments(args).filter((problem) => !isAboutPlaceholder(problem, args)),
    reconcile: null,
    cancel: null,
    idempotent: false,
  })
  standIns.add(standIn)
  return standIn
}

/** What only a made call could tell stays a text in a dry run, and is of no type yet. */
function isAboutPlaceholder(problem: string, args: JsonObject): boolean {
  const name = /^`([^`.[]+)/.exec(problem)?.[1]
  return name !== undefined && unknownArguments(args).includes(name)
}

/** Says whether a call of the tool is only shown, and never made. */
export function isOnlyShown(tool: Tool): boolean {
  return standIns.has(tool)
}

/** Says whether a result came of no call. */
export function isDryRunResult(result: unknown): result is { readonly would: unknown } {
  return (
    typeof result === 'object' &&
    result !== null &&
    'dry_run' in result &&
    result.dry_run === true &&
    'would' in result
  )
}
