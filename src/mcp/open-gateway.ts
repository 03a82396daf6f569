import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import type { Journal } from '../journal/journal.ts'
import type { Playbook } from '../playbook/playbook.ts'
import type { JsonObject } from '../shared/json.ts'
import { checkInputs } from '../tool/check-inputs.ts'
import type { DefinitionLock, Definitions } from './definition-lock.ts'
import { Gateway, notGoverned } from './gateway.ts'
import type { GatewayApprovals } from './gateway-approvals.ts'
import type { GatewayRun } from './gateway-run.ts'
import { GatewayTools, type Upstream } from './gateway-tools.ts'
import { RunStore } from './run-store.ts'
import { assertRunName, type Claiming } from './settle-call.ts'

/** What a gateway is opened with. */
export interface GatewaySetup {
  readonly playbook: Playbook
  readonly upstream: Upstream
  /** The names of the servers behind `upstream`. */
  readonly servers: readonly string[]
  readonly lock: DefinitionLock
  readonly journal: Journal
  readonly observe: boolean
  /** The one run of this process, and its inputs; null where every call names its run. */
  readonly only: { readonly run: string | null; readonly inputs: Readonly<Record<string, unknown>> } | null
  readonly version: string
  /** The policies that every run stands under; without it no policy is asked. */
  readonly approvals?: GatewayApprovals
  /** The user of the operating system, whose runs these are where callers are not told apart. */
  readonly user?: string
  /** Hears what a person should know, one sentence each. */
  readonly onNotice: (text: string) => void
}

const claimAttempts = 10
const claimPauseMs = 200

/** A gateway that can be served. */
export interface OpenGateway {
  readonly gateway: Gateway
  /** The one run of this process, if there is one. */
  readonly run: string | null
  /** Waits until every call is settled and written down; the lines say what was only observed. */
  close(): Promise<string[]>
}

/**
 * Opens a gateway: pins servers that are new, says which tools are not what was reviewed, begins or takes up the run of this
 * process. Throws `unknown_tool` if the playbook needs a tool that there is not, `usage` for a name that no run can have, `journal_conflict` if
 * another process has the run.
 */
export async function openGateway(setup: GatewaySetup): Promise<OpenGateway> {
  const { playbook, upstream, lock, observe, onNotice, approvals = null, user = null } = setup
  const localCaller = user ?? 'local'
  const { only } = setup
  if (only?.run != null) {
    assertRunName(only.run)
    await claim(setup.journal, only.run)
  }
  const fresh = setup.servers.filter((server) => !lock.knows(server))
  for (const server of fresh) lock.pin(server, definitionsOf(upstream, server))
  if (fresh.length > 0) {
    lock.save()
    onNotice(
      `First use of ${fresh.join(', ')}: what their tools are is now pinned in ${lock.path}. Review it.`,
    )
  }
  const tools = new GatewayTools(playbook, upstream, lock, observe)
  for (const reason of tools.refused()) onNotice(`Refused: ${reason}.`)
  const notice: JsonObject = {
    notice: notGoverned,
    enforcement: observe ? 'observed, not enforced' : 'enforced',
    servers: setup.servers,
    // What the configuration binds is not in the lock, so the record says what there was.
    configured: tools.bound.all.flatMap(({ server, name }) => (server === null ? [name] : [])),
    lock: lock.digest,
    policies: (approvals?.setupFor(localCaller).policies ?? []).map(({ ref }) => ({ ...ref })),
  }
  const runs = new RunStore({ tools, journal: setup.journal, observe, notice, approvals, user })
  const run = only === null ? null : (only.run ?? `r_${randomUUID()}`)
  if (only !== null && run !== null) {
    const known = await runs.canResume(run, localCaller)
    if (!known) checkInputs(playbook, only.inputs)
  }
  // Begun at the first call: clients start servers only to ask which revision they speak, and that is no run.
  let begun: Promise<GatewayRun> | null = null
  const theRun = () => (begun ??= runs.beginOrResume(run!, localCaller, only!.inputs))
  return {
    gateway: new Gateway({
      tools,
      runs,
      observe,
      only: only === null ? null : theRun,
      version: setup.version,
      onNotice,
    }),
    run,
    async close() {
      const touched = await runs.touched()
      await Promise.all(touched.map((each) => each.idle()))
      return observe ? touched.flatMap((each) => [`run ${each.run}:`, ...each.observation.lines()]) : []
    },
  }
}

/** Takes a named run for this process. A client that starts its server anew may overlap with the old one for a moment. */
async function claim(journal: Journal & Claiming, run: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await journal.claim?.(run)
      return
    } catch (error) {
      if (attempt === claimAttempts) throw error
      await setTimeout(claimPauseMs)
    }
  }
}

/** What the tools of one server are, by their names there. */
export function definitionsOf(upstream: Upstream, server: string): Definitions {
  const prefix = `${server}/`
  const definitions = new Map<string, JsonObject>()
  for (const { name } of upstream.tools) {
    const definition = name.startsWith(prefix) ? upstream.definition(name) : null
    if (definition !== null) definitions.set(name.slice(prefix.length), definition)
  }
  return definitions
}
