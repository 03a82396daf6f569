/** Works on a run with an engine until it has ended, or waits for somebody who knows more: what every process does that is not killed on the way. */
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Agent } from '../../src/agent/agent.ts'
import { EmbeddedEngine } from '../../src/engine/embedded/embedded-engine.ts'
import type { RunWork } from '../../src/engine/engine.ts'
import { openKeyRing } from '../../src/journal/chain-keys.ts'
import type { ChainStore } from '../../src/journal/chain-store.ts'
import type { JournalEntry } from '../../src/journal/journal.ts'
import type { DatabaseOptions } from '../../src/journal/sqlite/open-database.ts'
import { SqliteJournal } from '../../src/journal/sqlite/sqlite-journal.ts'
import type { ResumeOptions } from '../../src/agent/agent-options.ts'
import type { Tool } from '../../src/tool/tool.ts'
import { procedureOf, toolsOf, type ProcedureName } from './procedures.ts'

/** A run, and where it is worked on. */
export interface Job {
  readonly folder: string
  /** Where the practice service is. */
  readonly url: string
  readonly procedure: ProcedureName
  readonly run: string
}

/** What stands between the work and the store, or a tool; and how the store is opened. */
export interface Watch {
  readonly database?: DatabaseOptions
  readonly store?: (store: ChainStore) => ChainStore
  readonly tool?: (tool: Tool) => Tool
}

/** How often a run that nothing moves is taken up before it counts as waiting. */
const patience = 3

/** The store of a job. */
export function openStore(folder: string, options?: DatabaseOptions): SqliteJournal {
  return new SqliteJournal(join(folder, 'journal.db'), openKeyRing(join(folder, 'keys')), options)
}

/** Begins or takes up the run, votes for what is held, and gives its entries when it rests for good. */
export async function workOn(
  { folder, url, procedure: name, run }: Job,
  watch: Watch = {},
  settle?: ResumeOptions['settle'],
): Promise<readonly JournalEntry[]> {
  const procedure = procedureOf(name)
  const own = openStore(folder, watch.database)
  const store = watch.store?.(own) ?? own
  const tools = toolsOf(url).map((each) => watch.tool?.(each) ?? each)
  const agentFor = async () => {
    const past = await own.read(run)
    const answered = past.filter(({ type }) => type === 'model.answered' || type === 'question.answered')
    return new Agent({
      playbook: procedure.playbook,
      tools,
      journal: engine.journal,
      model: procedure.model(answered.length),
      ...(procedure.policy === undefined ? {} : { policy: procedure.policy }),
    })
  }
  // Each sitting has a model that knows what was said before it.
  const work: RunWork = {
    start: async (seat) => await (await agentFor()).run('ORD-42 please', { run, ...seat }),
    resume: async (seat) => await (await agentFor()).resume(run, seat),
    order: async (order) => await (await agentFor()).order(run, order),
    vote: async (callId, vote) => await (await agentFor()).vote(run, callId, vote),
  }
  const trouble: unknown[] = []
  const engine: EmbeddedEngine = await EmbeddedEngine.open({
    store,
    load: async () => work,
    onTrouble: (_, error) => trouble.push(error),
  })
  try {
    if (settle !== undefined) await (await agentFor()).resume(run, { settle })
    for (let idle = 0, before = -1; ;) {
      const entries = await own.read(run)
      if (isEnded(entries)) return entries
      idle = entries.length === before ? idle + 1 : 0
      if (idle > patience) return entries
      before = entries.length
      if (entries.length === 0) await engine.start(run, work)
      else {
        for (const callId of heldCalls(entries)) await engine.vote(run, callId, bob)
        await engine.resume(run)
      }
      if (trouble.length > 0) throw trouble[0]
      // What is still in progress elsewhere wants a moment.
      if (idle > 0) await sleep(50 * idle)
    }
  } finally {
    await engine.close()
    await own.close()
  }
}

/**
 * Works on the run until it has ended. Where it waits because nobody can say what became of a call, somebody looks at the world, and says; `waited` hears of
 * it first.
 */
export async function endOf(
  job: Job,
  watch: Watch = {},
  waited?: (entries: readonly JournalEntry[], isMade: boolean) => Promise<void>,
): Promise<readonly JournalEntry[]> {
  const entries = await workOn(job, watch)
  const last = entries.at(-1)
  if (last?.type !== 'tool.settled' || last.data['outcome'] !== 'unknown') return entries
  const { effects } = (await (await fetch(`${job.url}/effects`)).json()) as { effects: { key: unknown }[] }
  const isMade = effects.some(({ key }) => key === null)
  await waited?.(entries, isMade)
  const outcome = isMade ? 'succeeded' : 'not_executed'
  return await workOn(job, watch, { [String(last.data['callId'])]: { outcome } })
}

/** Whether the run has come to its end. */
export function isEnded(entries: readonly JournalEntry[]): boolean {
  return entries.some(({ type }) => type === 'run.finished')
}

const bob = {
  person: 'bob',
  identity: 'local',
  roles: ['OnCall'],
  answer: 'approve',
  reason: 'seen',
} as const

/** The calls that wait for people. */
function heldCalls(entries: readonly JournalEntry[]): Set<string> {
  const held = new Set<string>()
  for (const { type, data } of entries) {
    if (type === 'tool.held') held.add(String(data['callId']))
    else if (type === 'approval.voted' || type === 'tool.settled') held.delete(String(data['callId']))
  }
  return held
}
