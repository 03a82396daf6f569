/**
 * The runs of a gateway, each bound to the caller who began it.
 *
 * Owns: which run a handle means, and whose it is.
 *
 * Invariants
 * R1  A run is taken up from its record, never begun again: coming back does not reset a plan.
 * R2  A handle of another caller is answered like one that never existed.
 * R3  One run has one enforcer in this process, also when two calls ask for it at once.
 * R4  A run goes on as it was begun: who only observed it then cannot enforce it now, nor the other way round.
 * R5  A run is not taken up without a policy that it was begun under. What the policy says may have changed since; that it is asked may not.
 */
import { randomUUID } from 'node:crypto'
import type { Journal, JournalEntry } from '../journal/journal.ts'
import type { RunEvent } from '../run/event.ts'
import type { JsonObject } from '../shared/json.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import { PlaybookEnforcer } from '../tool/playbook-enforcer.ts'
import { RunRecord } from '../tool/run-record.ts'
import type { GatewayApprovals } from './gateway-approvals.ts'
import { GatewayRun, type GatewayRunSetup } from './gateway-run.ts'
import type { GatewayTools } from './gateway-tools.ts'

/** What every run of a gateway shares. */
export interface RunStoreOptions {
  readonly tools: GatewayTools
  readonly journal: Journal
  readonly observe: boolean
  /** What the record of each run says about the gateway. */
  readonly notice: JsonObject
  /** The policies that every run stands under; null for none. */
  readonly approvals: GatewayApprovals | null
  /** Who is behind the runs that were recorded as of `local`, when the user was not written down; null where that is a caller's name. */
  readonly user: string | null
}

const tenant = 'local'
const unnamed = 'local'

export class RunStore {
  readonly #options: RunStoreOptions
  readonly #runs = new Map<string, Promise<GatewayRun | null>>()
  readonly #owners = new Map<string, string>()

  constructor(options: RunStoreOptions) {
    this.#options = options
  }

  /** Begins a run under a new name. Throws `invalid_input` if the inputs do not fit. */
  async begin(principal: string, inputs: unknown): Promise<GatewayRun> {
    return await this.#begin(`r_${randomUUID()}`, principal, inputs)
  }

  /**
   * Says, without writing anything, whether a run of that name could be taken up; false if there is none yet. Throws `playbook_mismatch`, or `usage` if it
   * is somebody else's or was begun otherwise (R4).
   */
  async canResume(run: string, principal: string): Promise<boolean> {
    const entries = await this.#options.journal.read(run)
    if (entries.length === 0) return false
    const { playbook } = this.#options.tools
    if (this.#ownerOf(entries[0]!) !== principal) throw foreign(run)
    assertGatewayRun(run, entries)
    this.#assertPolicies(run, entries)
    this.#assertSameMode(run, PlaybookEnforcer.fromEvents(playbook, readEvents(entries)))
    return true
  }

  /** The run of that name, begun if there is none yet; its inputs count only then. */
  async beginOrResume(run: string, principal: string, inputs: unknown): Promise<GatewayRun> {
    const entries = await this.#options.journal.read(run)
    if (entries.length === 0) return await this.#begin(run, principal, inputs)
    const found = await this.find(run, principal)
    if (found !== null) return found
    throw foreign(run)
  }

  /** The caller's run of that name; null if there is none that is theirs (R2). */
  async find(run: string, principal: string): Promise<GatewayRun | null> {
    let found = this.#runs.get(run)
    if (found === undefined) {
      found = this.#resume(run)
      this.#runs.set(run, found)
      // What is not there may be there later; a failure is told to who asked and is not kept.
      found.then(
        (value) => value === null && this.#runs.delete(run),
        () => this.#runs.delete(run),
      )
    }
    // A stranger learns nothing from how long it takes or how it fails.
    const resolved = await found.catch((error: unknown) => {
      if (this.#owners.get(run) === principal) throw error
      return null
    })
    return this.#owners.get(run) === principal ? resolved : null
  }

  /** The runs that were touched since the gateway was opened. */
  async touched(): Promise<GatewayRun[]> {
    const all = await Promise.all(Array.from(this.#runs.values(), (run) => run.catch(() => null)))
    return all.filter((run) => run !== null)
  }

  async #begin(run: string, principal: string, inputs: unknown): Promise<GatewayRun> {
    const { tools, journal, observe, notice } = this.#options
    const begun = new GatewayRun({
      tools,
      record: new RunRecord(run, journal, { tenant, principal }),
      options: {
        run,
        blockViolations: !observe,
        inputs: (inputs ?? {}) as JsonObject,
        // Who only observes ends nothing because an answer comes too early.
        ...(observe ? { finishAttempts: Number.MAX_SAFE_INTEGER } : {}),
      },
      events: null,
      ...this.#policyFor(principal),
    })
    this.#owners.set(run, principal)
    this.#runs.set(run, Promise.resolve(begun))
    await begun.open(notice)
    return begun
  }

  async #resume(run: string): Promise<GatewayRun | null> {
    const { tools, journal, notice } = this.#options
    // A handle from outside becomes part of a path, so only what a handle looks like is looked for.
    if (!/^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/.test(run)) return null
    const entries = await journal.read(run)
    const [first] = entries
    if (first === undefined) return null
    const principal = this.#ownerOf(first)
    assertGatewayRun(run, entries)
    this.#owners.set(run, principal)
    this.#assertPolicies(run, entries)
    this.#assertSameMode(run, PlaybookEnforcer.fromEvents(tools.playbook, readEvents(entries)))
    const taken = new GatewayRun({
      tools,
      record: new RunRecord(run, journal, { tenant, principal }, entries),
      options: {},
      events: readEvents(entries),
      ...this.#policyFor(principal),
    })
    await taken.open(notice)
    return taken
  }

  #policyFor(principal: string): Pick<GatewayRunSetup, 'policy'> {
    const { approvals } = this.#options
    return approvals === null ? {} : { policy: { approvals, principal } }
  }

  #ownerOf({ principal }: JournalEntry): string {
    return principal === unnamed ? (this.#options.user ?? principal) : principal
  }

  /** R5. */
  #assertPolicies(run: string, entries: readonly JournalEntry[]): void {
    const begun = entries.find(({ type }) => type === 'gateway.opened')
    const here = new Set(policyIds(this.#options.notice))
    const missing = policyIds(begun?.data ?? {}).filter((id) => !here.has(id))
    if (missing.length === 0) return
    throw new LockstepError(
      'usage',
      `The run '${run}' was begun under ${missing.join(', ')}, which the gateway does not have now.`,
      { hint: 'Give the policy with --policy FILE, or name another run.' },
    )
  }

  #assertSameMode(run: string, { blockViolations }: PlaybookEnforcer): void {
    if (blockViolations !== this.#options.observe) return
    const how = blockViolations ? 'enforced' : 'only observed'
    throw new LockstepError('usage', `The run '${run}' was ${how} when it was begun, and stays so.`, {
      hint: 'Name another run.',
    })
  }
}

/** Throws `usage` for a run that an agent began: it has a conversation besides, which a gateway cannot go on with. */
export function assertGatewayRun(run: string, entries: readonly JournalEntry[]): void {
  if (entries.some(({ type }) => type === 'gateway.opened')) return
  throw new LockstepError('usage', `The run '${run}' was not begun by a gateway.`, {
    hint: 'Name another run.',
  })
}

/** The policies that the record of a gateway names. */
function policyIds(notice: JsonObject): readonly string[] {
  const { policies } = notice as { policies?: readonly { readonly id: string }[] }
  return (policies ?? []).map(({ id }) => id)
}

function foreign(run: string): LockstepError {
  return new LockstepError('usage', `The run '${run}' belongs to somebody else.`)
}

/** The events of the run itself, without what gateways added. */
export function readEvents(entries: readonly JournalEntry[]): RunEvent[] {
  return entries
    .filter(({ type }) => !type.startsWith('gateway.'))
    .map(({ type, at, data }) => ({ ...data, type, at }) as unknown as RunEvent)
}
