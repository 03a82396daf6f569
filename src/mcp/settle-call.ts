import { runNamePattern } from '../journal/check-append.ts'
import type { Authorship, Journal } from '../journal/journal.ts'
import type { Playbook } from '../playbook/playbook.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import type { RecordedOutcome } from '../tool/enforcer-options.ts'
import { PlaybookEnforcer } from '../tool/playbook-enforcer.ts'
import { RunRecord } from '../tool/run-record.ts'
import { assertGatewayRun, readEvents } from './run-store.ts'

/** Which call of which run of a gateway is settled, and how it ended. */
export interface Settlement {
  readonly run: string
  /** The call, or the beginning of its id. */
  readonly call: string
  readonly outcome: Pick<RecordedOutcome, 'outcome' | 'result' | 'error'>
}

/** A call that was settled. */
export interface SettledCall {
  readonly callId: string
  readonly tool: string
}

/**
 * Writes down what a person found out about a call of a gateway whose outcome nobody knew. Nothing is called. Throws `usage` for a run or a call
 * that is not there or not open, `playbook_mismatch` for another playbook, `journal_conflict` while a gateway still has the run.
 */
export async function settleCall(
  { run, call, outcome }: Settlement,
  {
    playbook,
    journal,
    ...author
  }: Authorship & { readonly playbook: Playbook; readonly journal: Journal & Claiming },
): Promise<SettledCall> {
  assertRunName(run)
  const before = await journal.read(run)
  if (before.length === 0) throw new LockstepError('usage', `There is no run '${run}'.`)
  assertGatewayRun(run, before)
  await journal.claim?.(run)
  // Read again: until now somebody else may have written.
  const entries = await journal.read(run)
  const record = new RunRecord(run, journal, author, entries)
  const enforcer = PlaybookEnforcer.fromEvents(playbook, readEvents(entries), {
    onEvents: (events) => record.write(events),
  })
  // What waits for an approval was not sent, so there is nothing to find out.
  const open = [...enforcer.gate.state.openTickets].filter(({ state }) => state !== 'held')
  const found = open.filter(({ callId }) => callId === call || (call !== '' && callId.startsWith(call)))
  const [ticket, ...more] = found.length > 1 ? found.filter(({ callId }) => callId === call) : found
  if (ticket === undefined || more.length > 0) {
    const listed = open.map(({ callId, tool }) => `${callId} (${tool})`).join(', ')
    const what = found.length > 1 ? 'more than one open call' : 'no open call'
    throw new LockstepError('usage', `Run ${run} has ${what} '${call}'.`, {
      hint: open.length === 0 ? 'No call of it is open.' : `Open are ${listed}.`,
    })
  }
  const { callId, tool } = ticket
  enforcer.recordToolCall(tool, { callId, ...outcome })
  await enforcer.written()
  return { callId, tool }
}

/** What a journal may be able to do: keep other processes from writing to a run. */
export interface Claiming {
  /** Throws `journal_conflict`, naming the process, if another one has the run. */
  claim?(run: string): Promise<void>
}

/** Throws `usage` if no run can have that name: names become parts of paths. */
export function assertRunName(run: string): void {
  if (runNamePattern.test(run)) return
  throw new LockstepError('usage', `'${run}' cannot name a run.`, {
    hint: "letters, digits, '_' and '-' can, a letter or a digit first, 128 at most",
  })
}
