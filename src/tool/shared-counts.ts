/**
 * Judges a call with what all runs of the tenant did, and takes its place among them.
 *
 * Owns: the way from a limit over several runs to the store that counts for it, and back.
 *
 * Invariants
 * W1  A call under a limit over other runs has its place before it is judged, and is judged by what counted before it took it: two runs never
 *     both have the last one.
 * W2  A call that is not admitted gives its place back. Nobody takes one who would be denied anyway, or in a dry run.
 * W3  Where the store cannot be asked, nobody has counted, and the policies deny.
 */
import { randomUUID } from 'node:crypto'
import type { LedgerCounts } from '../journal/call-ledger.ts'
import type { EnforcementResult } from './enforcement-result.ts'
import type { ProposedCall } from './enforcer-options.ts'
import type { Gate } from './gate.ts'
import type { ToolRegistry } from './tool-registry.ts'

/** Judges a call, in this moment where no policy asks about other runs. Fails only where the gate does. */
export function admitCall(gate: Gate, call: ProposedCall): EnforcementResult | Promise<EnforcementResult> {
  return gate.asksOthers(call, gate.tools) ? admitCounted(gate, call) : gate.judge(call.tool, call)
}

/** What counts for a call now; null where no policy asks about other runs, or nobody counts. Takes no place. */
export async function countsFor(
  gate: Gate,
  call: ProposedCall,
  tools: ToolRegistry | null = gate.tools,
): Promise<LedgerCounts | null> {
  const asked = gate.asksOthers(call, tools)
  if (asked === null) return null
  return await orNothing(() => asked.ledger.count(asked.question))
}

async function admitCounted(gate: Gate, given: ProposedCall): Promise<EnforcementResult> {
  // The place has to have the name that the call is written down under.
  const call = { ...given, callId: given.callId ?? `call-${randomUUID()}` }
  const { tool } = call
  const { ledger, question, takes } = gate.asksOthers(call, gate.tools)!
  const before = await orNothing(() => ledger.count(question))
  if (!takes || !gate.wouldAllow(call, gate.tools, before)) return gate.judge(tool, call, gate.tools, before)
  const counts = await orNothing(() => ledger.take(question))
  const enforcement = gate.judge(tool, call, gate.tools, counts)
  if (!enforcement.allowed) await orNothing(() => ledger.giveBack(question.call))
  return enforcement
}

/** W3. */
async function orNothing<Result>(ask: () => Promise<Result>): Promise<Result | null> {
  try {
    return await ask()
  } catch {
    return null
  }
}
