import type { Facts, RunRequest } from '../run/request.ts'
import { isJsonObject, type JsonObject } from '../shared/json.ts'
import { partLimits, toJson } from '../shared/to-json.ts'
import type { ProposedCall } from './enforcer-options.ts'
import { isOnlyShown } from './dry-run-tool.ts'
import { targetOf } from './target-of.ts'
import type { ToolRegistry } from './tool-registry.ts'

/** Reads a call from outside: its arguments copied, and what is wrong with them as a fact, never as a throw (G1). */
export function readProposal(
  given: string,
  call: Omit<ProposedCall, 'tool'>,
  tools: ToolRegistry | null,
  now: number,
): { readonly request: Extract<RunRequest, { type: 'call' }>; readonly facts: Facts } {
  // A caller without types may hand over anything; what is no text is no name.
  const tool = typeof given === 'string' ? given : ''
  const { callId } = call
  if (callId != null && (typeof callId !== 'string' || callId === '' || callId.length > 256)) {
    const request = { type: 'call', callId: null, tool, args: null } as const
    return { request, facts: { now, malformed: 'its id is no text of 1 to 256 characters' } }
  }
  const { args, malformed } = readArguments(call.arguments)
  const registered = tools?.get(tool) ?? null
  const problems = registered?.checkArguments(args ?? {}) ?? []
  return {
    request: { type: 'call', callId: callId ?? null, tool, args },
    facts: {
      now,
      registered: tools === null ? null : registered !== null,
      risk: registered?.risk ?? null,
      target: registered === null ? null : targetOf(registered, args),
      veto: call.veto ?? null,
      ...(registered !== null && isOnlyShown(registered) ? { shown: true } : {}),
      malformed: malformed ?? (problems.length === 0 ? null : problems.join('; ')),
    },
  }
}

function readArguments(given: unknown): { args: JsonObject | null; malformed: string | null } {
  if (given === undefined) return { args: null, malformed: null }
  const reading = toJson(given, partLimits)
  if (reading.problem !== null)
    return { args: null, malformed: `its arguments are not JSON: ${reading.problem}` }
  return isJsonObject(reading.value)
    ? { args: reading.value, malformed: null }
    : { args: null, malformed: 'its arguments are not an object' }
}
