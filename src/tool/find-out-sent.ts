import type { JsonObject } from '../shared/json.ts'
import { findOut, type FindOutResult, type LostCall } from './find-out.ts'
import type { Gate } from './gate.ts'
import type { RunSecrets } from './run-secrets.ts'
import type { Tool } from './tool.ts'

/** What became of an admitted call, asked for with its arguments as they were sent: with the secrets that stood in them, or not at all. Never throws. */
export async function findOutSent(
  gate: Gate,
  callId: string,
  tool: Tool | null,
  call: LostCall & { readonly args: JsonObject },
): Promise<FindOutResult & { readonly problem?: string }> {
  const { secrets, state } = gate
  if (secrets === null || tool === null || tool.risk === 'read') return await findOut(tool, call)
  const sent = await secrets.put(state, callId, call.args, tool, call.signal)
  if (sent.problem !== null) return { outcome: 'unknown', found: null, problem: sent.problem }
  return withoutSecrets(
    await findOut(tool, { ...call, args: sent.args, clean: (text) => secrets.maskText(text) }),
    secrets,
  )
}

/** What was found out, without secrets in what is told of it. */
export function withoutSecrets(result: FindOutResult, secrets: RunSecrets | null): FindOutResult {
  if (secrets === null) return result
  const { found } = result
  const note = found?.note
  return {
    ...result,
    result: secrets.maskJson(result.result),
    found: found === null || note === undefined ? found : { ...found, note: secrets.maskText(note) },
  }
}
