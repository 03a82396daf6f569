/**
 * Asks the policies about a call, on behalf of one run.
 *
 * Owns: what policies are told of a run. What they say enters the run machine as a fact, and is recorded with the decision.
 *
 * Invariants
 * Y1  The final tool and arguments are judged, right before the call, and again when an approved one is made (G14, G15).
 * Y2  What is not known is told as not known, so that whatever asks for it denies.
 * Y3  A call that is only shown, in a dry run, waits for nobody: that it would have is recorded. One that is really made waits, also there.
 * Y4  What depends on an argument that nobody knows in a dry run is recorded as not decided, and stops only a call that is really made.
 */
import type { PolicyFact } from '../run/approval.ts'
import { countCalls, isUndoing, madeCalls, ownSpending, stepForPolicy } from '../run/policy-view.ts'
import { unknownArguments } from '../run/placeholder.ts'
import type { RunState } from '../run/state.ts'
import type { Ticket } from '../run/ticket.ts'
import type { CallLedger, LedgerCounts, LedgerQuestion } from '../journal/call-ledger.ts'
import { matchesName } from '../playbook/match-name.ts'
import { CallHistory } from '../policy/call-history.ts'
import { isDayBudget } from '../policy/compile-budget.ts'
import { countsOthers } from '../policy/counts-others.ts'
import type { CompiledPolicy } from '../policy/compile-policy.ts'
import { decide } from '../policy/decide.ts'
import type { ApprovalDemand } from '../policy/decision.ts'
import { factOf, writeDecision } from '../policy/decision-record.ts'
import { judgeApproval, type Vote, whyNoVote } from '../policy/judge-approval.ts'
import type { Counter, PolicyFacts, PolicyMode, Principal, Spent } from '../policy/policy-request.ts'
import type { JsonObject } from '../shared/json.ts'
import { isOnlyShown } from './dry-run-tool.ts'
import { targetOf } from './target-of.ts'
import type { Tool } from './tool.ts'

/** Under which policies a run stands, and who is behind it. */
export interface PolicySetup {
  readonly policies: readonly CompiledPolicy[]
  readonly principal: Principal
  /** The persons who asked for the run, who cannot approve its calls; the principal is always one of them. */
  readonly requesters?: readonly string[]
  readonly mode?: PolicyMode
  readonly context?: JsonObject
  /** Why the glass is broken; null where nobody does. */
  readonly breakGlass?: string | null
  /** What a run cannot count by itself: its tokens and dollars, and what was spent today. A budget on what nobody counts denies. */
  readonly spent?: () => { readonly run: Partial<Spent>; readonly day: Partial<Spent> }
  /** Counts what all runs of the tenant do. Without it, a limit over other runs denies, and so does a budget of a day. */
  readonly shared?: { readonly ledger: CallLedger; readonly tenant: string } | undefined
}

/** A call as policies are asked about it. */
export interface JudgedCall {
  readonly callId?: string | null
  readonly tool: string
  readonly args: JsonObject | null
}

const dayMs = 86_400_000
const nothingSpent = { run: {}, day: {} }

/** The policies that a run stands under. */
export class PolicyGuard {
  readonly #setup: PolicySetup
  /** What its policies ask for at all, so that nothing is worked out that none of them asks. */
  readonly #asks: { readonly others: boolean; readonly past: boolean; readonly counts: boolean }

  constructor(setup: PolicySetup) {
    this.#setup = setup
    const { policies, shared } = setup
    this.#asks = {
      others: shared !== undefined && policies.some(countsOthers),
      past: policies.some(({ questions }) => questions.size > 0),
      counts: policies.some(({ counters }) => counters.length > 0),
    }
  }

  /** Says whether what other runs did may matter to a call. */
  get mayAskOthers(): boolean {
    return this.#asks.others
  }

  /** What is to be counted over other runs before the call is judged, and by whom, and whether the call takes a place; null where no policy asks for it, or nobody counts. */
  asksOthers(
    state: RunState,
    call: JudgedCall,
    tool: Tool | null,
    now: number,
  ): { readonly ledger: CallLedger; readonly question: LedgerQuestion; readonly takes: boolean } | null {
    const { policies, principal, shared, mode } = this.#setup
    const { callId = null, tool: name, args } = call
    if (shared === undefined || isUndoing(state, callId)) return null
    const windows = policies.flatMap(({ counters }) =>
      counters.flatMap(({ key, scope, tools, seconds }) =>
        scope === 'run' || !(tools ?? ['*']).some((glob) => matchesName(glob, name))
          ? []
          : { key, scope, tools, since: now - (seconds ?? now / 1000) * 1000 },
      ),
    )
    if (windows.length === 0 && !policies.some(hasDayBudget)) return null
    const target = tool === null ? null : targetOf(tool, args)
    const place = { run: state.run, callId: callId ?? '', tool: name, target, at: now }
    const dayBegan = Math.floor(now / dayMs) * dayMs
    const who = { tenant: shared.tenant, principal: principal.id }
    const question = { ...who, call: place, windows, dayBegan }
    return { ledger: shared.ledger, question, takes: mode !== 'dry-run' }
  }

  /** What policies say to a call, as the run machine takes it. `counts` are what was counted over other runs, where somebody did. Never throws. */
  judge(
    state: RunState,
    call: JudgedCall,
    tool: Tool | null,
    now: number,
    counts: LedgerCounts | null = null,
  ): PolicyFact {
    const { callId = null, tool: name, args } = call
    const step = stepForPolicy(state, name, callId)
    const target = tool === null ? null : targetOf(tool, args)
    const told = { tool: name, args, step, risk: tool?.risk ?? null, target }
    const facts = this.#facts(state, told, now, counts)
    const shown = facts.mode === 'dry-run' && tool !== null && isOnlyShown(tool)
    const unknown = shown ? unknownArguments(args) : []
    const request = {
      ...told,
      ...(isUndoing(state, callId) ? { undoes: true } : {}),
      ...(unknown.length > 0 ? { unknown } : {}),
    }
    const decision = decide(this.#setup.policies, request, facts)
    const made = { decision, request, facts, now: now < state.clock ? now : null, shown }
    return factOf(made, writeDecision(made))
  }

  /** What a vote on a held call comes to, with those before it. */
  comesTo(ticket: Ticket, vote: Omit<Vote, 'at'>, now: number): 'waiting' | 'granted' | 'denied' {
    const approval = ticket.approval!
    const votes = [...approval.votes, { ...vote, at: now }] as readonly Vote[]
    const demands = approval.demands as unknown as readonly ApprovalDemand[]
    const { state } = judgeApproval(
      demands,
      votes,
      { askedAt: approval.askedAt, requesters: this.requesters },
      now,
    )
    return state === 'granted' || state === 'denied' ? state : 'waiting'
  }

  /** Why what somebody says does not count for a held call; null if it does for some of what it takes. */
  whyNotBy(ticket: Ticket, voter: Pick<Vote, 'person' | 'identity' | 'roles'>): string | null {
    const demands = ticket.approval!.demands as unknown as readonly ApprovalDemand[]
    const reasons = demands.map((demand) => whyNoVote(demand, voter, this.requesters))
    return reasons.includes(null) ? null : (reasons[0] ?? 'nobody knows what it takes')
  }

  /** Who asked for the run, and so cannot approve. */
  get requesters(): readonly string[] {
    return [...new Set([this.#setup.principal.id, ...(this.#setup.requesters ?? [])])]
  }

  #facts(
    state: RunState,
    request: { readonly target: string | null },
    now: number,
    counts: LedgerCounts | null,
  ): PolicyFacts {
    const { policies, principal, mode = 'execute', context = {}, breakGlass = null, spent } = this.#setup
    const asks = this.#asks
    const { run, day } = spent?.() ?? nothingSpent
    return {
      now,
      principal,
      mode,
      inputs: state.inputs,
      context,
      past: asks.past ? new CallHistory(madeCalls(state), policies) : null,
      counters: asks.counts
        ? {
            ...Object.fromEntries(
              policies.flatMap((policy) => this.#count(policy, state, request.target, now)),
            ),
            ...counts?.windows,
          }
        : (counts?.windows ?? {}),
      spent: {
        day: { ...dayOf(policies, counts), ...day },
        run: spentOf(run, ownSpending(state, now)),
      },
      breakGlass,
    }
  }

  /** What a run can count by itself: its own calls. A limit over other runs finds its counter where somebody counts for all, else none, and denies (Y2). */
  #count(policy: CompiledPolicy, state: RunState, target: string | null, now: number): [string, Counter][] {
    return policy.counters.flatMap((query): [string, Counter][] =>
      query.scope === 'run' ? [[query.key, countCalls(state, query, target, now)]] : [],
    )
  }
}

/** What a run spent, with what it counts by itself, which nobody else does better. */
function spentOf(told: Partial<Spent>, { calls, minutes }: Pick<Spent, 'calls' | 'minutes'>): Partial<Spent> {
  const { cost_usd: cost, tokens, ...others } = told
  return {
    ...others,
    calls,
    ...(cost === undefined ? {} : { cost_usd: cost }),
    minutes,
    ...(tokens === undefined ? {} : { tokens }),
  }
}

function hasDayBudget({ rules }: CompiledPolicy): boolean {
  return rules.some(({ name }) => isDayBudget(name))
}

/** What was spent today, for policies that ask. */
function dayOf(policies: readonly CompiledPolicy[], counts: LedgerCounts | null): Partial<Spent> {
  if (counts === null || !policies.some(hasDayBudget)) return {}
  const { calls, tokens, cost } = counts.day
  return { calls, tokens, ...(cost === null ? {} : { cost_usd: cost }) }
}
