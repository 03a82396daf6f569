/**
 * Decides a run again.
 *
 * Owns: the comparison of what is recorded with what the run machine says.
 *
 * Invariants
 * R1  Every event of the machine is either what a request led to, or what followed by itself; both are worked out again from the state that
 *     the events before it left, and must be the same letter by letter.
 * R2  What follows by itself and is not recorded is as wrong as what is recorded and does not follow.
 * R3  A fact that the record does not hold is taken on its word, and listed.
 */
import { compilePlaybook, type CompiledPlaybook } from '../playbook/compile-playbook.ts'
import { parsePlaybook } from '../playbook/parse-playbook.ts'
import { decide } from '../run/decide.ts'
import type { RunEvent } from '../run/event.ts'
import { passTime, perform, startRun } from '../run/perform.ts'
import { semantics, type RunState } from '../run/state.ts'
import type { Json, JsonObject } from '../shared/json.ts'
import { messageOf } from '../shared/message-of.ts'
import { sameJson } from '../shared/same-json.ts'
import { guessRequests } from './guess-request.ts'
import type { ReadEntry } from './read-export.ts'
import type { Finding, Unchecked } from './verdict.ts'

/** What deciding a run again came to. */
export interface DecisionReport {
  readonly findings: readonly Finding[]
  readonly notRecomputable: readonly Unchecked[]
  readonly recomputed: number
  readonly status: string | null
}

const machineTypes: ReadonlySet<string> = new Set<RunEvent['type']>([
  'run.started',
  'tool.admitted',
  'tool.held',
  'approval.voted',
  'approval.expired',
  'tool.denied',
  'tool.settled',
  'tool.unadmitted',
  'step.opened',
  'step.undecided',
  'step.completed',
  'step.skipped',
  'step.failed',
  'step.escalated',
  'step.retried',
  'step.refused',
  'iteration.started',
  'finish.refused',
  'run.finished',
])

/** What agents, gateways and approvers add to a record decides nothing, and is not read. */
const shellTypes = /^(?:agent|model|gateway|mcp)\.|^tool\.returned$|^approval\.decided$/

/** The playbooks of an export by their digest, compiled once for all runs; null for one that is not what its digest says. */
export class PlaybookShelf {
  readonly #documents: Readonly<Record<string, Json>>
  readonly #compiled = new Map<string, CompiledPlaybook | null>()

  constructor(documents: Readonly<Record<string, Json>>) {
    this.#documents = documents
  }

  has(digest: string): boolean {
    return Object.hasOwn(this.#documents, digest)
  }

  find(digest: string): CompiledPlaybook | null {
    let found = this.#compiled.get(digest)
    if (found === undefined) {
      const { playbook } = parsePlaybook(JSON.stringify(this.#documents[digest]), { format: 'json' })
      const compiled = playbook === null ? null : compilePlaybook(playbook)
      found = compiled?.digest === digest ? compiled : null
      this.#compiled.set(digest, found)
    }
    return found
  }
}

/** Works every decision of a run out again from its playbook. */
export function checkDecisions(
  chain: string,
  entries: readonly ReadEntry[],
  playbooks: PlaybookShelf,
): DecisionReport {
  const check = new DecisionCheck(chain, playbooks)
  try {
    check.read(entries)
    check.run()
  } catch (error) {
    check.giveUp(`it cannot be decided again: ${messageOf(error)}`)
  }
  return check
}

class DecisionCheck implements DecisionReport {
  readonly findings: Finding[] = []
  readonly notRecomputable: Unchecked[] = []
  recomputed = 0
  status: string | null = null
  readonly #chain: string
  readonly #playbooks: PlaybookShelf
  readonly #events: RunEvent[] = []
  /** Where each event stands in the chain. */
  readonly #seqs: number[] = []
  #at = 0

  constructor(chain: string, playbooks: PlaybookShelf) {
    this.#chain = chain
    this.#playbooks = playbooks
  }

  /** Takes the machine's events out of the entries, up to the first that is withheld. */
  read(entries: readonly ReadEntry[]): void {
    for (const { link, data } of entries) {
      if (shellTypes.test(link.type)) continue
      if (!machineTypes.has(link.type)) {
        this.giveUp(`'${link.type}' is not decided again by this version`, link.seq)
        return
      }
      const fact = data()
      if (fact === null) {
        this.giveUp(`the payload of entry ${link.seq} is not in the export`, link.seq)
        return
      }
      this.#events.push({ ...fact, type: link.type, at: link.at } as unknown as RunEvent)
      this.#seqs.push(link.seq)
      if (link.type === 'run.finished') this.status = String(fact['status'])
    }
  }

  run(): void {
    const state = this.#begin()
    if (state === null) return
    while (this.#at < this.#events.length) {
      const due = passTime(state, { now: this.#events[this.#at]!.at })
      if (!this.#take(due) || (this.#at < this.#events.length && !this.#answer(state))) return
    }
  }

  giveUp(why: string, seq: number | null = this.#seqs[this.#at] ?? null): void {
    this.notRecomputable.push({ chain: this.#chain, seq, why })
  }

  #begin(): RunState | null {
    const started = this.#events[0]
    if (started === undefined) return null
    if (started.type !== 'run.started') {
      this.#forged('the first event does not begin a run')
      return null
    }
    const compiled = this.#compile(started.playbook)
    if (compiled === null) return null
    if (started.semantics !== semantics) {
      this.giveUp(
        `the run was judged by rules ${started.semantics}, and this version knows rules ${semantics}`,
      )
      return null
    }
    const { state, events } = startRun(compiled, started, { now: started.at })
    return this.#take(events) ? state : null
  }

  #compile(digest: string): CompiledPlaybook | null {
    if (!this.#playbooks.has(digest)) {
      this.giveUp(`the playbook ${digest} is not in the export`)
      return null
    }
    const compiled = this.#playbooks.find(digest)
    if (compiled === null) this.#forged(`the playbook in the export is not the one the run names: ${digest}`)
    return compiled
  }

  /** Carries out the request behind the next event, and compares all that follows. */
  #answer(state: RunState): boolean {
    const event = this.#events[this.#at]!
    const guesses = guessRequests(
      this.#events,
      this.#at,
      (callId) => state.byCallId.get(callId)?.tool ?? null,
    )
    const fits = guesses.find(({ request, facts }) => this.#matches(decide(state, request, facts)))
    if (fits === undefined) {
      if (event.type === 'tool.denied' && event.code === 'gate_error') {
        this.giveUp('an error on the way to the verdict denied the call; what failed is not recorded')
        return this.#skip()
      }
      const [first] = guesses
      const said = first === undefined ? [] : decide(state, first.request, first.facts)
      this.#forged(`the playbook does not lead to this ${describe(event)}; it leads to ${describeAll(said)}`)
      return false
    }
    if (fits.onItsWord !== null) this.giveUp(`taken on the record's word: ${fits.onItsWord}`)
    return this.#take(perform(state, fits.request, fits.facts).events)
  }

  /** A denial changes nothing, so what follows can be decided without it. */
  #skip(): boolean {
    this.#at++
    return true
  }

  #matches(expected: readonly RunEvent[]): boolean {
    if (expected.length === 0) return false
    return expected.every((event, offset) => sameJson(event, this.#events[this.#at + offset]))
  }

  #take(expected: readonly RunEvent[]): boolean {
    for (const event of expected) {
      const recorded = this.#events[this.#at]
      if (recorded === undefined) {
        // As after a crash, or where the rest is withheld: what is there is right.
        this.giveUp(`the record ends before ${describe(event)}, which follows`)
        return false
      }
      if (!sameJson(event, recorded)) {
        this.#forged(`${describe(event)} follows here, and the record says ${describe(recorded)}`)
        return false
      }
      this.#at++
      this.recomputed++
    }
    return true
  }

  #forged(message: string): void {
    const seq = this.#seqs[Math.min(this.#at, this.#seqs.length - 1)] ?? null
    this.findings.push({ kind: 'forged_decision', chain: this.#chain, seq, message })
  }
}

function describeAll(events: readonly RunEvent[]): string {
  return events.length === 0 ? 'nothing' : events.map(describe).join(', then ')
}

function describe(event: RunEvent): string {
  const { tool, step, code, status } = event as unknown as JsonObject
  const about = [code, tool, step, status].filter((each) => typeof each === 'string')
  return about.length === 0 ? event.type : `${event.type} (${about.join(', ')})`
}
