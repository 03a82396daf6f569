import type { z } from 'zod'
import type { approvalRoutes } from '../api/run-routes.ts'
import type { approval as approvalShape } from '../api/run-shapes.ts'
import type { Principal } from '../directory/principal.ts'
import type { JournalEntry } from '../journal/journal.ts'
import { describeEntry } from '../overview/describe-entry.ts'
import { heldCalls, type HeldCall } from '../overview/held-call.ts'
import { sendEntry, sendTime } from '../overview/send-entry.ts'
import type { ApprovalCard } from '../overview/view-rows.ts'
import { runRequesters } from '../platform/run-requesters.ts'
import { starterOf } from '../platform/starter.ts'
import { authorise } from '../directory/authorise.ts'
import { judgeApproval, whyNoVote, type Vote } from '../policy/judge-approval.ts'
import { redactObject, redactText } from '../shared/redact.ts'
import type { HandlersOf } from './handler.ts'
import { assertMay } from './permit.ts'
import { RequestError } from './problem.ts'
import { findApproval, type RunPlatform, type RunSetup } from './run-setup.ts'
import { readCursor, scopeOf, showApproval, writeCursor } from './run-views.ts'

type Shown = z.input<typeof approvalShape>

/** How many lines of the run so far are shown. */
const mostLines = 50

/** Answers about calls that wait for approval, and takes what people say to them. */
export function approvalHandlers(setup: RunSetup): HandlersOf<keyof typeof approvalRoutes> {
  const { platform } = setup
  const decide =
    (answer: 'approve' | 'deny') =>
    async (
      asked: Parameters<typeof findApproval>[1] & { readonly body: { readonly reason?: string | undefined } },
    ): Promise<Shown> => {
      const card = await findApproval(setup, asked)
      const { principal } = asked
      assertMay(principal, 'approval:decide', card.project)
      const voter = voterOf(principal, card.project)
      const engine = await platform.engineOf(principal.tenant)
      const vote = { ...voter, answer, reason: asked.body.reason ?? null }
      const said = await engine.vote(card.run, card.call, vote)
      const { call, entries } = await readCall(platform, card)
      if ('refused' in said && !hasSaid(call, voter.person, answer)) throw refusal(call, said.refused)
      return show(platform, principal, { ...card, state: call.state }, call, entries)
    }
  return {
    listApprovals: async (asked) => {
      const { cursor, ...filter } = asked.query
      const scope = scopeOf(asked, 'approval:read')
      const page = await platform.overview.approvals(scope, { ...filter, after: readCursor(cursor) })
      return { items: page.items.map(showApproval), next: writeCursor(page.next) }
    },
    getApproval: async (asked) => {
      const card = await findApproval(setup, asked)
      const { call, entries } = await readCall(platform, card)
      return show(platform, asked.principal, { ...card, state: call.state }, call, entries)
    },
    approve: decide('approve'),
    deny: decide('deny'),
  }
}

/** Whoever sends the request, as one who votes: a key votes for the person who made it, and says that it is a key. */
function voterOf(principal: Principal, project: string | null): Omit<Vote, 'at' | 'answer'> {
  const { kind, roles } = starterOf(principal, project)
  return { person: principal.person ?? principal.actor, identity: kind, roles }
}

/** Whether they have said just that already, so that saying it again changes nothing. */
function hasSaid({ votes }: HeldCall, person: string, answer: 'approve' | 'deny'): boolean {
  return votes.some((vote) => vote.person === person && vote.answer === answer)
}

function refusal({ state, id }: HeldCall, why: string): RequestError {
  if (state === 'waiting') return new RequestError('forbidden', `This does not count: ${redactText(why)}`)
  return new RequestError('not_available', `Approval ${id} is decided: ${state}.`)
}

async function readCall(
  { store, now }: RunPlatform,
  { run, call }: ApprovalCard,
): Promise<{ readonly call: HeldCall; readonly entries: readonly JournalEntry[] }> {
  const entries = await store.read(run)
  const found = heldCalls(entries, now()).find(({ callId }) => callId === call)
  if (found === undefined) throw new RequestError('not_found', 'There is no such thing.')
  return { call: found, entries }
}

function show(
  platform: RunPlatform,
  principal: Principal,
  card: ApprovalCard,
  call: HeldCall,
  entries: readonly JournalEntry[],
): Shown {
  const { rule, policy, reason } = call.decision
  const requesters = runRequesters(platform, card.tenant, entries)
  const votes = call.votes as readonly (Vote & { readonly reason: string | null })[]
  const judged = judgeApproval(call.demands, votes, { askedAt: call.askedAt, requesters }, platform.now())
  const whyNot = whyNotDecide(principal, card, call, requesters)
  return {
    ...showApproval(card),
    reason: redactText(reason),
    args: redactObject(call.args) as Shown['args'],
    byModel: call.byModel,
    rule,
    policy: policy === null ? null : `${policy.id}@${policy.version}`,
    demands: call.demands.map(
      ({ policy: by, rule: asks, count, allowSelfApproval, roles, approvers, identity }) => ({
        policy: by,
        rule: asks,
        count,
        allowSelfApproval,
        roles: [...roles],
        approvers: [...approvers],
        identity: [...identity],
      }),
    ),
    votes: votes.map((vote) => ({
      ...vote,
      roles: [...vote.roles],
      at: sendTime(vote.at),
      reason: vote.reason === null ? null : redactText(vote.reason),
    })),
    missing: judged.state === 'waiting' && call.state === 'waiting' ? [...judged.missing] : [],
    mayDecide: whyNot === null,
    whyNot,
    requesters: [...requesters],
    before: linesBefore(entries, card.call),
  }
}

/** Why the sender's word would not count; null if it would. */
function whyNotDecide(
  principal: Principal,
  { project, tenant, state }: ApprovalCard,
  { demands }: HeldCall,
  requesters: readonly string[],
): string | null {
  if (state !== 'waiting') return `it is decided: ${state}`
  if (authorise(principal, 'approval:decide', { tenant, project }) !== 'allowed')
    return 'your roles do not permit to decide approvals'
  const voter = voterOf(principal, project)
  const reasons = demands.map((demand) => whyNoVote(demand, voter, requesters))
  return reasons.includes(null) ? null : (reasons[0] ?? null)
}

/** The run up to the call, in lines, without secrets. */
function linesBefore(entries: readonly JournalEntry[], call: string): string[] {
  const held = entries.findIndex(({ type, data }) => type === 'tool.held' && data['callId'] === call)
  return entries
    .slice(0, held === -1 ? undefined : held)
    .flatMap((entry) => describeEntry({ ...entry, data: sendEntry(entry).data }))
    .slice(-mostLines)
}
