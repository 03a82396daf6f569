import { openRecords } from '../app.ts'
import { escapeControl } from '../shared/escape-control.ts'
import { redactObject, redactText } from '../shared/redact.ts'
import type { Json } from '../shared/json.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import type { Command } from './command.ts'
import { describeRule, describeVote } from '../overview/describe-vote.ts'
import { describeDemands, timeLeft } from './describe-held-call.ts'
import { exitCode } from './exit-code.ts'
import { readHeldCalls } from './find-held-call.ts'
import type { HeldCall } from '../overview/held-call.ts'
import { paintRed } from './paint-red.ts'
import { readFlags } from './read-flags.ts'
import { runFolder } from './run-folder.ts'
import { describeCall } from '../overview/describe-call.ts'
import { timeText } from './runs-command.ts'
import type { Terminal } from './terminal.ts'

const help = `Usage: lockstep approvals [--json]

Lists the calls that wait for approval in all recorded runs, the oldest first: the call, the rule that asks for it and why, when it was asked
for and by whom, how much time is left, and what was said so far. Calls that were approved and not made yet, and those whose time ran out,
are listed too: their runs wait to be taken up.

Options:
  --json   one JSON document, for programs

Exit codes: 0 done, 2 wrong usage.

Examples:
  lockstep approvals
  lockstep approve a_3f2b91c0
`

/** `lockstep approvals`: what waits for people. */
export const approvalsCommand: Command = {
  help,
  async run(args, terminal) {
    const { names, flags } = readFlags(args, { json: 'switch' })
    if (names.length > 0)
      throw new LockstepError('usage', 'approvals takes no names', { hint: 'lockstep approve ID shows one' })
    const records = await openRecords(runFolder())
    try {
      const now = Date.now()
      const unreadable = (run: string) =>
        terminal.err(`lockstep: not considered: the record of run ${escapeControl(run)} cannot be read\n`)
      const all = await readHeldCalls(records, now, unreadable)
      const listed: (HeldCall & { readonly playbook: string | null })[] = []
      for (const { call } of all.toSorted((one, other) => one.call.askedAt - other.call.askedAt)) {
        if (!call.open) continue
        const { playbook } = await records.summary(call.run)
        listed.push({ ...call, args: redactObject(call.args), playbook })
      }
      if (flags.has('json')) {
        terminal.out(`${JSON.stringify({ approvals: listed as unknown as Json }, null, 2)}\n`)
        return exitCode.done
      }
      if (listed.length === 0) terminal.out('No call waits for approval.\n')
      for (const call of listed) describe(call, now, terminal)
      const [first] = listed
      if (first !== undefined) terminal.out(`Next: ${nextFor(first)}\n`)
      return exitCode.done
    } finally {
      await records.close()
    }
  },
}

function describe(
  call: HeldCall & { readonly playbook: string | null },
  now: number,
  terminal: Terminal,
): void {
  const { id, tool, args, run, playbook, step, askedAt, askedBy, expiresAt, votes, state } = call
  const say = (line: string) => terminal.out(`${escapeControl(redactText(line))}\n`)
  const where = [`run ${run}`, playbook ?? 'no playbook', ...(step === null ? [] : [`step ${step}`])]
  say(`${id}  ${describeCall(tool, args)}`)
  say(`  ${where.join(' · ')}`)
  say(`  ${describeRule(call)}`)
  say(`  asked ${timeText(askedAt)} by ${askedBy} · ${standsAt[state] ?? timeLeft(expiresAt, now)}`)
  for (const line of describeDemands(call.demands)) say(`  it takes ${line}`)
  for (const vote of votes) {
    const line = `  ${describeVote(vote)}`
    if (vote.identity === 'asserted') terminal.out(`${paintRed(escapeControl(line), terminal)}\n`)
    else say(line)
  }
}

const standsAt: Partial<Record<HeldCall['state'], string>> = {
  granted: 'approved, waits for its run to be taken up',
  expired: 'its time ran out',
}

function nextFor({ state, id, run, served }: HeldCall): string {
  if (served && state !== 'waiting') return 'have the client of the gateway send the same call again'
  return state === 'waiting' ? `npx lockstep approve ${id}` : `npx lockstep resume ${run}`
}
