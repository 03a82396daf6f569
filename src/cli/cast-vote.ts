/**
 * What `lockstep approve` and `lockstep deny` share: shows all there is to decide on, then writes down what the person says.
 *
 * Invariants
 * V1  What is shown comes from the record of the run; what a model wrote is labelled, and control characters are escaped.
 * V2  A name that nobody checked is written down as asserted, beside the user who ran the command, and told in red.
 * V3  Nothing is written for a call that was decided, used, or came too late; for a run at work in another process; or for one whose
 *     playbook was changed.
 */
import {
  connectEngine,
  openJournalOf,
  openRecords,
  writeVote,
  type JournalEntry,
  type Journal,
} from '../app.ts'
import { judgeApproval, type Vote } from '../policy/judge-approval.ts'
import type { ApprovalVote } from '../run/approval.ts'
import { escapeControl } from '../shared/escape-control.ts'
import { requestersOf } from '../run/requesters-of.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import { redactObject, redactText } from '../shared/redact.ts'
import { loadConfig } from '../source/load-config.ts'
import { describeEntry } from '../overview/describe-entry.ts'
import { describeRule, describeVote } from '../overview/describe-vote.ts'
import { describeDemands, timeLeft } from './describe-held-call.ts'
import { type ExitCode, exitCode } from './exit-code.ts'
import { findHeldCall, readHeldCalls, type FoundCall } from './find-held-call.ts'
import type { HeldCall } from '../overview/held-call.ts'
import { leaveVote } from './leave-vote.ts'
import { localUser, rolesOf, type People } from './local-user.ts'
import { openConfig } from './open-config.ts'
import { homeOf } from './hosted-run.ts'
import { openPinnedPlaybook } from './pinned-playbook.ts'
import { paintRed } from './paint-red.ts'
import { runFolder } from './run-folder.ts'
import { readStart } from './run-start.ts'
import { timeText } from './runs-command.ts'
import type { Terminal } from './terminal.ts'

/** What somebody wants to say to a call that waits. */
export interface Ballot {
  /** The id of the approval, or its beginning. */
  readonly wanted: string
  readonly answer: ApprovalVote['answer']
  readonly reason: string | null
  /** Under whose name; null for the user who runs the command. */
  readonly as: string | null
}

/** Shows what is to be decided and writes down what is said. Throws `usage` for an id that is none, and what keeps a vote from being written. */
export async function castVote(ballot: Ballot, terminal: Terminal): Promise<ExitCode> {
  const folder = runFolder()
  const { call, entries } = await find(folder, ballot.wanted, terminal)
  assertWaits(call)
  const start = readStart(folder, call.run)
  if (start === null && call.served) {
    const people = (await openConfig(undefined))?.people ?? {}
    tellCall(call, entries, { people, requesters: requestersOf(entries), playbook: 'of a gateway' }, terminal)
    return leaveVote(ballot, call, folder, terminal)
  }
  if (start === null) {
    throw new LockstepError('invalid_input', `Run ${call.run} was not begun by lockstep run.`, {
      hint: 'approve its calls where it was begun: in the console of lockstep serve, or with agent.vote in a program',
    })
  }
  const digest = String(entries[0]!.data['playbook'])
  const playbook = await openPinnedPlaybook(
    start,
    digest,
    async () => await recordedText(folder, digest),
    terminal,
  )
  if (playbook === null) return exitCode.failed
  const people = start.config === null ? {} : (await loadConfig(start.config)).people
  const requesters = requestersOf(entries)
  tellCall(call, entries, { people, requesters, playbook: playbook.name }, terminal)
  const vote = voteOf(ballot, people)
  if (vote.identity === 'asserted')
    tell(`ASSERTED: nobody checked that this is ${vote.person}. For demonstrations only.`, terminal, 'red')
  const engine = await connectEngine(homeOf(folder))
  let journal: Journal | null = null
  try {
    if (engine !== null && (await engine.runs()).includes(call.run)) {
      const said = await engine.vote(call.run, call.callId, vote)
      const code = tellOutcome(said, call, vote, requesters, terminal)
      tell(`Next: npx lockstep tail ${call.run}`, terminal)
      return code
    }
    journal = await openJournalOf(folder, call.run)
    const setup = { playbook, journal, principal: localUser(people).id, requesters }
    const said = await writeVote(setup, call.run, call.callId, vote)
    const code = tellOutcome(said, call, vote, requesters, terminal)
    tellNext(said, call, await journal.read(call.run), terminal)
    return code
  } finally {
    engine?.close()
    await journal?.close()
  }
}

async function recordedText(folder: string, digest: string): Promise<string | null> {
  const records = await openRecords(folder)
  try {
    const document = await records.document(digest)
    return document === null ? null : JSON.stringify(document)
  } finally {
    await records.close()
  }
}

async function find(folder: string, wanted: string, terminal: Terminal): Promise<FoundCall> {
  const records = await openRecords(folder)
  try {
    const unreadable = (run: string) =>
      terminal.err(`lockstep: not considered: the record of run ${escapeControl(run)} cannot be read\n`)
    return findHeldCall(await readHeldCalls(records, Date.now(), unreadable), wanted)
  } finally {
    await records.close()
  }
}

/** V3. */
function assertWaits({ id, tool, state, run, open, served, votes, expiresAt }: HeldCall): void {
  const said = votes.map(describeVote).join('; ')
  const refuse = (why: string, hint: string) =>
    new LockstepError('invalid_input', `${tool} (${id}) ${why}.`, { hint })
  const goOn = !open
    ? `see what happened: npx lockstep show ${run}`
    : served
      ? 'its client goes on with it: have the same call sent again'
      : `go on with it: npx lockstep resume ${run}`
  switch (state) {
    case 'waiting':
      return
    case 'granted':
      throw refuse(`is approved already: ${said}`, goOn)
    case 'denied':
      throw refuse(`was denied already: ${said}`, goOn)
    case 'expired':
      throw refuse(`could be approved until ${timeText(expiresAt)}, and it is later`, goOn)
    case 'used':
      throw refuse(`was approved and made already: ${said}`, goOn)
    case 'void':
      throw refuse('waits no more', goOn)
  }
}

/** V2. */
function voteOf({ answer, reason, as }: Ballot, people: People): Omit<ApprovalVote, 'at'> {
  const person = as ?? localUser(people).id
  const identity = as === null ? 'local' : 'asserted'
  return { person, identity, roles: rolesOf(people, person), answer, reason }
}

const mostShown = 40

/** V1. */
function tellCall(
  call: HeldCall,
  entries: readonly JournalEntry[],
  about: { readonly people: People; readonly requesters: readonly string[]; readonly playbook: string },
  terminal: Terminal,
): void {
  const before = entries.filter(({ data }) => data['callId'] !== call.callId)
  const lines = before.map((entry) => ({ ...entry, data: redactObject(entry.data) })).flatMap(describeEntry)
  const whose = call.byModel ? 'written by the model' : 'worked out by the playbook'
  const args = Object.entries(redactObject(call.args))
  const say = (line: string) => tell(line, terminal)
  say(`${call.id} · run ${call.run} · ${about.playbook}${call.step === null ? '' : ` · step ${call.step}`}`)
  say(`The call      ${call.tool}, its arguments ${whose}:`)
  for (const [name, value] of args) say(`                ${name} = ${JSON.stringify(value)}`)
  say(`The rule      ${describeRule(call)}`)
  say(`Asked         ${timeText(call.askedAt)} by ${call.askedBy}, ${timeLeft(call.expiresAt, Date.now())}`)
  for (const line of describeDemands(call.demands, about)) say(`It takes      ${line}`)
  for (const vote of call.votes)
    tell(`Said so far   ${describeVote(vote)}`, terminal, vote.identity === 'asserted' ? 'red' : null)
  say('The run so far')
  if (lines.length > mostShown)
    say(`  … ${lines.length - mostShown} lines before: npx lockstep show ${call.run}`)
  for (const line of lines.slice(-mostShown)) say(line)
}

function tellOutcome(
  said: { readonly comesTo: string } | { readonly refused: string },
  call: HeldCall,
  vote: Omit<ApprovalVote, 'at'>,
  requesters: readonly string[],
  terminal: Terminal,
): ExitCode {
  const who = `${vote.person} (${vote.identity})`
  if ('refused' in said) {
    terminal.err(`lockstep: what ${escapeControl(who)} says does not count: ${escapeControl(said.refused)}\n`)
    return exitCode.failed
  }
  const verb = vote.answer === 'approve' ? 'approved' : 'denied'
  tell(`${who} ${verb} ${call.tool} (${call.id}): ${said.comesTo}`, terminal)
  if (said.comesTo !== 'waiting') return exitCode.done
  const now = Date.now()
  const votes = [...call.votes, { ...vote, at: now }] as readonly Vote[]
  const { askedAt, demands } = call
  const stands = judgeApproval(demands, votes, { askedAt, requesters }, now)
  if (stands.state === 'waiting') for (const each of stands.missing) tell(`Still takes ${each}`, terminal)
  return exitCode.waitsForApproval
}

/** A denial may end a run: a program whose step fails has nothing more to do. */
function tellNext(
  said: { readonly comesTo: string } | { readonly refused: string },
  { id, run }: HeldCall,
  entries: readonly JournalEntry[],
  terminal: Terminal,
): void {
  const end = entries.findLast(({ type }) => type === 'run.finished')
  if (end !== undefined) {
    const why = typeof end.data['message'] === 'string' ? `: ${end.data['message']}` : ''
    tell(`The run has ended (${String(end.data['status'])})${why}`, terminal)
    tell(`Next: npx lockstep show ${run}`, terminal)
  } else if ('refused' in said) tell('Next: npx lockstep approvals', terminal)
  else if (said.comesTo === 'waiting') tell(`Next: npx lockstep approve ${id}, by somebody else`, terminal)
  else tell(`Next: npx lockstep resume ${run}`, terminal)
}

function tell(line: string, terminal: Terminal, colour: 'red' | null = null): void {
  const text = escapeControl(redactText(line))
  terminal.out(`${colour === null ? text : paintRed(text, terminal)}\n`)
}
