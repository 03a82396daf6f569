/**
 * Who stands above a run (G18).
 *
 * Owns: the way from a tool that is an agent, or calls one, back to the run whose call it is.
 *
 * Invariants
 * L1  A run that is begun inside a call of another run is its child, however it was begun.
 * L2  A call of a child is also a call of every run above it: each of their gates admits it before it is made, as it would admit its
 *     own, and is told how it ended. What one of them refuses is refused.
 * L3  What a child spends, every run above it spends.
 * L4  Whoever approves for a run above is asked about the calls of a child too.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { CallOutcome } from '../tool/run-call.ts'
import { countsFor } from '../tool/shared-counts.ts'
import type { ToolRegistry } from '../tool/tool-registry.ts'
import type { RunSetup } from './run-setup.ts'

/** A run above another: its setup, and the call under which the other one runs. */
export interface Ancestor {
  readonly setup: RunSetup
  readonly callId: string
}

const storage = new AsyncLocalStorage<readonly Ancestor[]>()

/** The runs above whoever asks, the outermost first. */
export function currentLineage(): readonly Ancestor[] {
  return storage.getStore() ?? []
}

/** Does the work of a call, so that runs begun inside it know whose children they are (L1). */
export function insideCall<Result>(setup: RunSetup, callId: string, work: () => Result): Result {
  return storage.run([...setup.ancestors, { setup, callId }], work)
}

/** A call as each of the runs above knows it, the nearest first. */
export function callsAbove(ancestors: readonly Ancestor[], callId: string): readonly Ancestor[] {
  let path = callId
  return ancestors.toReversed().map(({ setup, callId: above }) => {
    path = `${above}/${path}`
    return { setup, callId: path }
  })
}

/** What the runs above say to a call: why one of them refuses it, and how they are told what became of it. */
export interface AdmissionAbove {
  readonly refusal: string | null
  settle(outcome: CallOutcome): void
}

/** Asks every run above for a call (L2). What some had admitted before another refused is given back. */
export async function admitAbove(
  ancestors: readonly Ancestor[],
  call: { readonly callId: string; readonly tool: string; readonly arguments: unknown },
  tools: ToolRegistry | null,
): Promise<AdmissionAbove> {
  const admitted: Ancestor[] = []
  const { tool } = call
  const settle = (outcome: CallOutcome) => {
    for (const { setup, callId } of admitted) {
      setup.enforcer.recordToolCall(tool, { ...outcomeAbove(outcome), callId })
    }
  }
  for (const above of callsAbove(ancestors, call.callId)) {
    const { callId } = above
    const { enforcer, record } = above.setup
    // The tool is the child's: it need not be offered above, but it has to be legal there.
    const { gate } = enforcer
    const asked = { callId, arguments: call.arguments }
    const counts = await countsFor(gate, { tool, ...asked }, tools)
    const { allowed, message } = gate.judge(tool, asked, tools, counts)
    if (!allowed) {
      settle({ tool, enforcement: null, status: 'not_executed', error: 'refused above' })
      return { refusal: `the run above (${record.run}) refuses it: ${message}`, settle: () => undefined }
    }
    admitted.push(above)
  }
  for (const { setup } of admitted) await setup.enforcer.written()
  return { refusal: null, settle }
}

function outcomeAbove(outcome: CallOutcome) {
  switch (outcome.status) {
    case 'succeeded':
      return { outcome: outcome.status, result: outcome.result }
    case 'failed':
    case 'unknown':
      return { outcome: outcome.status, error: outcome.error }
    case 'denied':
    case 'held':
    case 'not_executed':
      return { outcome: 'not_executed' as const }
  }
}
