/**
 * The calls of one run that wait, or waited, for people.
 *
 * Owns: which held call a client means when it sends the same call again; it decides nothing, the gate does.
 *
 * Invariants
 * A1  A call that is sent again while the same one is held is that one: the same tool, the same arguments, the same run. Nothing is held twice.
 * A2  Calls that are the same are looked at one after another, so that of two at once one is made and the other finds it made.
 * A3  What a person denied is not asked again in this run; what came too late is told once, and may be asked again.
 * A4  The person at the client is asked only where their answer would count, once for each held call.
 */
import { randomUUID } from 'node:crypto'
import { inputRequired, inputResponse, type InputRequiredResult } from '@modelcontextprotocol/server'
import type { ApprovalVote } from '../run/approval.ts'
import { isWaiting } from '../run/decide-approval.ts'
import type { RunEvent } from '../run/event.ts'
import type { Ticket } from '../run/ticket.ts'
import { canonicalJson } from '../shared/canonical-json.ts'
import { escapeControl } from '../shared/escape-control.ts'
import type { JsonObject } from '../shared/json.ts'
import type { Gate } from '../tool/gate.ts'
import { PolicyGuard } from '../tool/policy-guard.ts'
import type { ClientPerson, GatewayApprovals, HeldWords } from './gateway-approvals.ts'

/** What is to be done with a call: under which id it is made, and why it may not be. */
export type Standing =
  | { readonly callId: string; readonly refusal: null }
  | { readonly callId: string; readonly refusal: { readonly code: RefusalCode; readonly message: string } }

type RefusalCode = 'approval_denied' | 'approval_expired'

interface Reason {
  readonly callId: string
  readonly rule: string
  readonly reason: string
}

const mostReason = 1000

/** Finds held calls again, takes what people said to them, and says what they wait for. */
export class RunApprovals {
  readonly #run: string
  readonly #approvals: GatewayApprovals
  readonly #principal: ReturnType<GatewayApprovals['setupFor']>['principal']
  readonly #requesters: readonly string[]
  readonly #guard: PolicyGuard
  readonly #latest = new Map<string, Reason>()
  readonly #turns = new Map<string, Promise<void>>()
  /** What was said to a call and does not count, by its id. */
  readonly #discounted = new Map<string, string[]>()

  constructor(run: string, principal: string, approvals: GatewayApprovals) {
    const setup = approvals.setupFor(principal)
    this.#run = run
    this.#approvals = approvals
    this.#principal = setup.principal
    this.#requesters = [setup.principal.id, ...(setup.requesters ?? [])]
    this.#guard = new PolicyGuard(setup)
  }

  /** Takes in which calls were held. */
  hear(events: readonly RunEvent[]): void {
    for (const event of events) {
      if (event.type !== 'tool.held') continue
      const { rule, policy, reason } = (event.policy['decision'] ?? {}) as {
        rule?: string | null
        policy?: { id: string; version: string } | null
        reason?: string
      }
      const by = policy == null ? 'no policy' : `${policy.id}@${policy.version}`
      const known = { callId: event.callId, rule: `${rule ?? 'no rule'} of ${by}`, reason: reason ?? '' }
      this.#latest.set(keyOf(event.tool, event.args ?? {}), known)
    }
  }

  /** Does the work when no call that is the same is at work (A2). */
  async inTurn<Result>(tool: string, args: JsonObject, work: () => Promise<Result>): Promise<Result> {
    const key = keyOf(tool, args)
    const mine = (this.#turns.get(key) ?? Promise.resolve()).then(work)
    const over = mine.then(
      () => undefined,
      () => undefined,
    )
    this.#turns.set(key, over)
    try {
      return await mine
    } finally {
      if (this.#turns.get(key) === over) this.#turns.delete(key)
    }
  }

  /** Takes what people have said so far, and says how the call stands (A1, A3). `note` writes down what did not count. */
  async stand(
    gate: Gate,
    tool: string,
    args: JsonObject,
    person: ClientPerson,
    note: (fact: JsonObject) => Promise<void>,
  ): Promise<Standing> {
    gate.passTime()
    const key = keyOf(tool, args)
    const known = this.#latest.get(key)
    const ticket = known === undefined ? undefined : gate.state.byCallId.get(known.callId)
    if (ticket === undefined) return { callId: randomUUID(), refusal: null }
    await this.#takeVotes(gate, ticket, person, note)
    if (ticket.state === 'held') return { callId: ticket.callId, refusal: null }
    const callId = randomUUID()
    switch (ticket.approval?.state) {
      case 'denied': {
        const said = ticket.approval.votes.findLast(({ answer }) => answer === 'deny')
        const why = said?.reason == null ? 'no reason was given' : said.reason
        const message = `${said?.person ?? 'somebody'} (${said?.identity}) denied it: ${why}`
        return { callId, refusal: { code: 'approval_denied', message } }
      }
      case 'expired': {
        this.#latest.delete(key)
        const until = new Date(ticket.approval.expiresAt).toISOString()
        const message = `nobody denied it, but it could be approved and made until ${until}, and it is later`
        return { callId, refusal: { code: 'approval_expired', message } }
      }
      default:
        this.#latest.delete(key)
        return { callId, refusal: null }
    }
  }

  /** What a client is told of a call that is held: a form for its person (A4), or what the call waits for. */
  tell(gate: Gate, callId: string, person: ClientPerson): InputRequiredResult | JsonObject {
    const ticket = gate.state.byCallId.get(callId)!
    const words = this.#wordsFor(ticket)
    const { rule, reason } = this.#latest.get(keyOf(ticket.tool, ticket.args ?? {}))!
    const until = new Date(ticket.approval!.expiresAt).toISOString()
    if (person.canAsk && this.#couldAnswer(ticket) && !Object.hasOwn(person.answers, words.id)) {
      const message = [
        `${ticket.tool} waits for approval (${words.id}).`,
        `Arguments: ${JSON.stringify(ticket.args ?? {})}`,
        `Rule: ${rule}: ${reason}`,
        `It can be approved and made until ${until}.`,
      ]
      return inputRequired({
        inputRequests: {
          [words.id]: inputRequired.elicit({
            message: message.map((line) => escapeControl(line)).join('\n'),
            requestedSchema,
          }),
        },
      })
    }
    const discounted = this.#discounted.get(callId) ?? []
    const said = ticket.approval!.votes.map(
      ({ person, identity, answer }) => `${person} (${identity}): ${answer}`,
    )
    return {
      message: [
        `'${ticket.tool}' waits for the approval of people: ${reason} (${rule}).`,
        `It takes ${words.takes.join('; and ')}.`,
        ...(said.length === 0 ? [] : [`Said so far: ${said.join('; ')}.`]),
        ...discounted.map((line) => `${line}.`),
        `To approve it: ${words.command}. Then send the same call again, with the same arguments, before ${until}.`,
      ].join(' '),
      next: `Tell a person that ${words.id} waits for approval. When it is approved, send the same call again.`,
      approval: {
        id: words.id,
        tool: ticket.tool,
        arguments: ticket.args,
        rule,
        reason,
        takes: words.takes,
        votes: said,
        until,
        command: words.command,
      },
    }
  }

  async #takeVotes(
    gate: Gate,
    ticket: Ticket,
    person: ClientPerson,
    note: (fact: JsonObject) => Promise<void>,
  ): Promise<void> {
    if (!isWaiting(ticket)) return
    const { callId } = ticket
    const handed = this.#approvals.votesOn(this.#run, callId)
    const answer = this.#answerOf(person, this.#wordsFor(ticket).id)
    const answers = answer !== null && this.#couldAnswer(ticket) ? [answer] : []
    for (const vote of [...handed.map((each) => each.vote), ...answers]) {
      if (!isWaiting(ticket)) break
      const said = gate.vote(callId, vote)
      if (!('refused' in said)) continue
      const line = `What ${vote.person} (${vote.identity}) said does not count: ${said.refused}`
      this.#discounted.set(callId, [...new Set([...(this.#discounted.get(callId) ?? []), line])])
      await note({ callId, vote: { ...vote }, refused: said.refused })
    }
    // What was said is let go of only when it is on record.
    await gate.written()
    for (const { taken } of handed) taken()
  }

  /** What the person at the client says: under the caller's name, which nobody checked that they are. */
  #answerOf({ canAsk, answers }: ClientPerson, id: string): Omit<ApprovalVote, 'at'> | null {
    if (!canAsk) return null
    const response = inputResponse({ ...answers }, id)
    if (response.kind !== 'elicit' || response.action === 'cancel') return null
    const { id: person, roles } = this.#principal
    const by = { person, identity: 'asserted', roles }
    if (response.action === 'decline') return { ...by, answer: 'deny', reason: 'declined in the client' }
    const { answer, reason } = response.content ?? {}
    if (answer !== 'approve' && answer !== 'deny') return null
    const why = typeof reason === 'string' && reason.trim() !== '' ? reason.slice(0, mostReason) : null
    return { ...by, answer, reason: why }
  }

  #couldAnswer(ticket: Ticket): boolean {
    const { id: person, roles } = this.#principal
    const spoke = ticket.approval!.votes.some(
      (vote) => vote.person === person && vote.identity === 'asserted',
    )
    return (
      isWaiting(ticket) &&
      !spoke &&
      this.#guard.whyNotBy(ticket, { person, identity: 'asserted', roles }) === null
    )
  }

  #wordsFor({ callId, approval }: Ticket): HeldWords {
    const demands = approval!.demands
    return this.#approvals.wordsFor({ run: this.#run, callId, demands, requesters: this.#requesters })
  }
}

const requestedSchema = {
  type: 'object' as const,
  properties: {
    answer: { type: 'string' as const, title: 'Approve this call?', enum: ['approve', 'deny'] },
    reason: { type: 'string' as const, title: 'Why', maxLength: mostReason },
  },
  required: ['answer'],
}

function keyOf(tool: string, args: JsonObject): string {
  return `${tool} ${canonicalJson(args)}`
}
