/**
 * Decides a run again.
 *
 * Owns: the comparison of what is recorded with what the run machine and the policies say.
 *
 * Invariants
 * R1  Every event of the machine is either what a request led to, or what followed by itself; both are worked out again from the state that
 *     the events before it left, and must be the same letter by letter.
 * R2  What follows by itself and is not recorded is as wrong as what is recorded and does not follow.
 * R3  A fact that the record does not hold is taken on its word, and listed.
 * R4  What a withheld payload says for people is taken on its word; behind it a difference proves nothing, and is listed, unless nobody
 *     signed that word.
 */
import type { CompiledPlaybook } from '../playbook/compile-playbook.ts'
import { describeEvent, isSameEvent } from '../run/compare-event.ts'
import { decide } from '../run/decide.ts'
import type { RunEvent } from '../run/event.ts'
import { runEventType } from '../run/event-type.ts'
import { passTime, perform, startRun } from '../run/perform.ts'
import { missingPolicy } from '../run/policy-view.ts'
import type { Facts } from '../run/request.ts'
import { requestersInExport } from '../run/requesters-of.ts'
import { semantics, type RunState } from '../run/state.ts'
import { uncoveredCall } from '../run/uncovered-call.ts'
import { messageOf } from '../shared/message-of.ts'
import { askPoliciesAgain, voteProblem } from './check-policies.ts'
import type { Documents } from './documents.ts'
import { factsOf, guessRequests, type Guess } from '../run/guess-request.ts'
import type { ReadEntry } from '../journal/read-export.ts'
import type { Finding, FindingKind, Unchecked } from './verdict.ts'

/** What deciding a run again came to. */
export interface DecisionReport {
  readonly findings: readonly Finding[]
  /** What is wrong behind the first payload that was withheld, and means something only if nobody signed what is shown (R4). */
  readonly doubted: Finding | null
  readonly notRecomputable: readonly Unchecked[]
  readonly recomputed: number
  readonly status: string | null
}

/** What agents, gateways, engines and approvers add to a record decides nothing, and is not read. */
const shellTypes = /^(?:agent|model|gateway|mcp|engine)\.|^tool\.returned$|^approval\.decided$/

/** Works every decision of a run out again from its playbook and its policies. */
export function checkDecisions(
  chain: string,
  entries: readonly ReadEntry[],
  documents: Documents,
): DecisionReport {
  const check = new DecisionCheck(chain, documents)
  try {
    check.read(entries)
    check.run()
  } catch (error) {
    check.giveUp(`it cannot be decided again: ${messageOf(error)}`)
  }
  const { findings, doubted, notRecomputable, recomputed, status } = check
  return { findings, doubted, notRecomputable, recomputed, status }
}

class DecisionCheck implements DecisionReport {
  readonly findings: Finding[] = []
  doubted: Finding | null = null
  recomputed = 0
  status: string | null = null
  readonly #chain: string
  readonly #documents: Documents
  readonly #events: RunEvent[] = []
  /** Where each event stands in the chain. */
  readonly #seqs: number[] = []
  /** By what was not checked: the first place, and how often. */
  readonly #unchecked = new Map<string, { readonly seq: number | null; times: number }>()
  #at = 0
  /** The first event that is known from what it says for people only (R4). */
  #viewed = Infinity
  #entries: readonly ReadEntry[] = []
  #risks: ReadonlyMap<string, string> | null = null
  #governed = false

  constructor(chain: string, documents: Documents) {
    this.#chain = chain
    this.#documents = documents
  }

  get notRecomputable(): readonly Unchecked[] {
    return Array.from(this.#unchecked, ([what, { seq, times }]) => {
      const why = times === 1 ? what : `${what} (${times} times)`
      return { chain: this.#chain, seq, why }
    })
  }

  /** Takes the machine's events out of the entries, up to the first that is gone. */
  read(entries: readonly ReadEntry[]): void {
    this.#entries = entries
    for (const entry of entries) {
      const { at, seq } = entry.link
      const type = runEventType(entry.link.type)
      if (type === null) {
        if (shellTypes.test(entry.link.type)) continue
        this.giveUp(`'${entry.link.type}' is not decided again by this version`, seq)
        return
      }
      const payload = entry.data()
      const fact: Record<string, unknown> | null = payload ?? (entry.view === null ? null : { ...entry.view })
      if (fact === null) {
        this.giveUp('its payload is not in the export, so nothing from there on is decided again', seq)
        return
      }
      if (payload === null) {
        this.#viewed = Math.min(this.#viewed, this.#events.length)
        this.giveUp('its payload was withheld: what it says for people is taken on its word', seq)
      }
      fact['type'] = type
      fact['at'] = at
      this.#events.push(fact as unknown as RunEvent)
      this.#seqs.push(seq)
      if (type === 'run.finished') this.status = String(fact['status'])
    }
  }

  run(): void {
    const state = this.#begin()
    if (state === null) return
    while (this.#at < this.#events.length) {
      const due = passTime(state, { now: this.#events[this.#at]!.at })
      if (due.length > 0 ? !this.#take(due) : !this.#answer(state)) return
    }
  }

  giveUp(why: string, seq: number | null = this.#seqs[this.#at] ?? null): void {
    const known = this.#unchecked.get(why)
    if (known === undefined) this.#unchecked.set(why, { seq, times: 1 })
    else known.times++
  }

  #begin(): RunState | null {
    const started = this.#events[0]
    if (started === undefined) return null
    if (started.type !== 'run.started') return this.#wrong('the first event does not begin a run')
    const compiled = this.#compile(started.playbook)
    if (compiled === null) return null
    const rules = started.semantics
    if (rules !== semantics) {
      this.giveUp(`the run was judged by rules ${rules}, and this version knows rules ${semantics}`)
      return null
    }
    const risks = started.tools === undefined ? null : this.#documents.risks(started.tools)
    if (risks === 'forged') return this.#wrong(`the list of tools in the export is not ${started.tools}`)
    if (risks === null && started.tools !== undefined) this.giveUp('the list of tools is not in the export')
    this.#risks = risks
    const { state, events } = startRun(compiled, started, { now: started.at })
    return this.#take(events) ? state : null
  }

  #compile(digest: string): CompiledPlaybook | null {
    const found = this.#documents.playbook(digest)
    if (found === 'forged')
      return this.#wrong(`the playbook in the export is not the one the run names: ${digest}`)
    if (found === null) this.giveUp(`the playbook ${digest} is not in the export`)
    return found
  }

  /** Carries out the request behind the next event, and compares all that follows. */
  #answer(state: RunState): boolean {
    const event = this.#events[this.#at]!
    const known = this.#look(state, event)
    if (known !== null) return this.#wrong(known.message, known.kind) !== null
    const guesses = guessRequests(this.#events, this.#at, state)
    for (const [index, guess] of guesses.entries()) {
      const facts = this.#facts(state, guess, event.at)
      if (facts === null) return false
      // Only where there is a choice is it tried first: what is carried out changes the state.
      if (index < guesses.length - 1 && !this.#matches(decide(state, guess.request, facts))) continue
      const { events, answer } = perform(state, guess.request, facts)
      if (answer.length > 0 && isSameEvent(answer[0]!, event)) {
        if (guess.request.type === 'end')
          this.giveUp("taken on the record's word: that something outside the playbook ended the run")
        return this.#take(events, 1)
      }
      if (event.type === 'tool.denied' && event.code === 'gate_error') {
        this.giveUp('an error on the way to the verdict denied the call, and does not come again')
        // A denial changes nothing, so what follows can be decided without it.
        if (answer.every(({ type }) => type === 'tool.denied')) return this.#at++ >= 0
        return false
      }
      const leads = answer.length === 0 ? 'nothing' : answer.map(describeEvent).join(', then ')
      const message = `the playbook does not lead to this ${describeEvent(event)}; it leads to ${leads}`
      return this.#wrong(message) !== null
    }
    return this.#wrong(`nothing leads to this ${describeEvent(event)}`) !== null
  }

  /** What can be said of an event more exactly than that it does not follow. */
  #look(state: RunState, event: RunEvent): { readonly message: string; readonly kind: FindingKind } | null {
    if (event.type === 'approval.voted') {
      const ticket = state.byCallId.get(event.callId)
      if (ticket === undefined || ticket.approval === null) return null
      // Whoever rewrites a vote may leave them out there; the principals of the entries stand in the links, and who was behind them in the prompt.
      const before = this.#entries.slice(0, this.#seqs[this.#at]! - 1)
      const message = voteProblem(ticket, event, [...(event.requesters ?? []), ...requestersInExport(before)])
      return message === null ? null : { message, kind: 'forged_decision' }
    }
    if (event.type !== 'tool.admitted') return null
    const message = uncoveredCall(state, event)
    return message === null ? null : { message, kind: 'uncovered_call' }
  }

  /** The facts that a request came with; null if they cannot have been those. */
  #facts(state: RunState, { call, target }: Guess, now: number): Facts | null {
    if (call === null) return { now }
    const { facts, onItsWord } = factsOf(call, now, target)
    if (onItsWord !== null) this.giveUp(`taken on the record's word: ${onItsWord}`)
    const given = call.policy
    if (given === undefined) {
      const lacking = call.type === 'tool.denied' ? null : missingPolicy(state, call, [])
      if (lacking !== null) return this.#wrong(lacking)
      if (this.#governed) this.giveUp('the run stands under policies, and none was asked about this call')
      return facts
    }
    this.#governed = true
    const { fact, risk, wrong, onItsWord: word } = askPoliciesAgain(state, call, given, this.#documents)
    const listed = call.callId?.includes('/') === true ? undefined : this.#risks?.get(call.tool)
    if (listed !== undefined && listed !== risk)
      // Tools may be bound anew when a run is taken up.
      this.giveUp(`the policies were told that '${call.tool}' is ${risk}, and at the start it was ${listed}`)
    if (wrong !== null) return this.#wrong(wrong)
    if (word !== null) this.giveUp(`taken on the record's word: ${word}`)
    return { ...facts, policy: fact }
  }

  #matches(expected: readonly RunEvent[]): boolean {
    if (expected.length === 0) return false
    return expected.every((event, offset) => isSameEvent(event, this.#events[this.#at + offset]))
  }

  /** Compares what follows with what is recorded, from where they were compared already. */
  #take(expected: readonly RunEvent[], known = 0): boolean {
    this.#at += known
    this.recomputed += known
    for (const event of known === 0 ? expected : expected.slice(known)) {
      const recorded = this.#events[this.#at]
      if (recorded === undefined) {
        // As after a crash, or where the rest is withheld: what is there is right.
        this.giveUp(`the record ends before ${describeEvent(event)}, which follows`)
        return false
      }
      if (!isSameEvent(event, recorded)) {
        const message = `${describeEvent(event)} follows here, and the record says ${describeEvent(recorded)}`
        return this.#wrong(message) !== null
      }
      this.#at++
      this.recomputed++
    }
    return true
  }

  #wrong(message: string, kind: FindingKind = 'forged_decision'): null {
    const seq = this.#seqs[Math.min(this.#at, this.#seqs.length - 1)] ?? null
    const finding: Finding = { kind, chain: this.#chain, seq, message }
    if (this.#at >= this.#viewed) this.doubted = finding
    else this.findings.push(finding)
    return null
  }
}
