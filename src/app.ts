/**
 * The one place where contracts meet implementations. What only some commands need is loaded when it is asked for.
 */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import type { AgentOptions } from './agent/agent-options.ts'
import type { AgentSetup, ReadyAgent } from './agent/prepare-agent.ts'
import type { PersonTerminal } from './agent/person-terminal.ts'
import type { writeOrder as WriteOrderFunction } from './agent/write-order.ts'
import type { writeVote as WriteVoteFunction } from './agent/write-vote.ts'
import type { QuestionAnswers } from './agent/question/ask-questions.ts'
import type { EngineClient } from './engine/engine-client.ts'
import type { OpenEngine, OpenEngineOptions } from './engine/embedded/open-engine.ts'
import type { ChainStore } from './journal/chain-store.ts'
import type { Journal } from './journal/journal.ts'
import type { Records } from './journal/records.ts'
import type { StoreLook } from './journal/sqlite/look-at-store.ts'
import type { QuestionBatch } from './run/program/question.ts'
import { runFile, storeFile, usesFiles } from './source/store-place.ts'
import type { Tool } from './tool/tool.ts'

export {
  connectConfigured,
  connectMcpServers,
  openPractice,
  openTools,
  type BoundTool,
  type ConnectedServers,
  type DryBinding,
  type OpenTools,
} from './app-tools.ts'
export type { AgentEvent } from './agent/agent-event.ts'
export type { AgentResult, ResumeOptions, RunOptions } from './agent/agent-options.ts'
export type { AgentStream } from './agent/agent.ts'
export type { AgentSetup, ReadyAgent } from './agent/prepare-agent.ts'
export { Interruption } from './agent/interruption.ts'
export { RunControl, type RunOrder } from './agent/run-control.ts'
export type { EngineClient } from './engine/engine-client.ts'
export type { OpenEngine } from './engine/embedded/open-engine.ts'
export type { HeldUp, RunRest, RunWork, Seat } from './engine/engine.ts'
export type { Person } from './agent/person.ts'
export { scriptTurn } from './agent/question/script-turn.ts'
export type { Checkpoint } from './journal/chain-checkpoint.ts'
export type { Journal, JournalEntry } from './journal/journal.ts'
export { refusalBehind } from './journal/reservation-refusal.ts'
export type { Records, RunSummary } from './journal/records.ts'
export { practiceDeclarations } from './practice/practice-declaration.ts'

/**
 * Where new runs are written down: the chained store beside the folder of runs, or files in it where `LOCKSTEP_STORE=files` asks for that. Throws `usage` for
 * any other store.
 */
async function openJournal(folder: string): Promise<Journal> {
  return usesFiles() ? await openFiles(folder) : await openChainStore(dirname(folder))
}

/** Writes an order into the record of a run that nobody is at work on, without binding any tool. */
export async function writeOrder(...args: Parameters<WriteOrder>): ReturnType<WriteOrder> {
  return await (await import('./agent/write-order.ts')).writeOrder(...args)
}

/**
 * The journal that holds a run of a data folder; where new runs are written if none does. Halts and the locks of targets bind whoever writes to it, but
 * for a dry run, which changes nothing; a journal in files knows neither.
 */
export async function openJournalOf(
  folder: string,
  run: string | null,
  use: JournalUse = {},
): Promise<Journal> {
  const journal = await findJournal(folder, run)
  if (use.dry === true || !('halted' in journal)) return journal
  const { bindJournal } = await import('./engine/embedded/bound-journal.ts')
  const tools = use.tools ?? []
  // A name that stands for several tools only reads if they all do.
  const acts = new Set(tools.filter(({ risk }) => risk !== 'read').map(({ name }) => name))
  const reads = new Set(tools.map(({ name }) => name).filter((name) => !acts.has(name)))
  return bindJournal(journal as ChainStore, (tool) => reads.has(tool))
}

/** What is done with a journal. */
export interface JournalUse {
  readonly dry?: boolean
  /** The tools that are called. */
  readonly tools?: readonly Tool[]
}

async function findJournal(folder: string, run: string | null): Promise<Journal> {
  if (run !== null && existsSync(runFile(folder, run))) return await openFiles(folder)
  const home = dirname(folder)
  if (run === null || !existsSync(join(home, storeFile))) return await openJournal(folder)
  const store = await openChainStore(home)
  if (!usesFiles() || (await store.has(run))) return store
  await store.close()
  return await openFiles(folder)
}

async function openFiles(folder: string): Promise<Journal> {
  const { FileJournal } = await import('./journal/file/file-journal.ts')
  return new FileJournal(folder)
}

/** The chained store of a data folder; its keys are made on first use. Throws `journal_unreadable` or `journal_unwritable`. */
export async function openChainStore(
  home: string,
  use: { readonly orReadOnly?: boolean } = {},
): Promise<ChainStore> {
  const { openKeyRing } = await import('./journal/chain-keys.ts')
  const { SqliteJournal } = await import('./journal/sqlite/sqlite-journal.ts')
  return new SqliteJournal(join(home, storeFile), openKeyRing(join(home, 'keys')), use)
}

type WriteVote = typeof WriteVoteFunction
type WriteOrder = typeof WriteOrderFunction

/** Makes this process the engine of a data folder; null if another one is, or runs are written to files. */
export async function openEngine(
  home: string,
  options: Omit<OpenEngineOptions, 'openStore'>,
): Promise<OpenEngine | null> {
  if (usesFiles()) return null
  const engines = await import('./engine/embedded/open-engine.ts')
  return await engines.openEngine(home, { ...options, openStore: () => openChainStore(home) })
}

/** The engine of a data folder in another process; null if there is none. Throws `engine_unavailable`. */
export async function connectEngine(home: string): Promise<EngineClient | null> {
  const { engineAddress } = await import('./engine/engine-address.ts')
  const { EngineClient } = await import('./engine/engine-client.ts')
  return await EngineClient.connect(engineAddress(home))
}

/** The chained store of a data folder as it lies there, unchanged; null if there is none. Throws `journal_unreadable`. */
export async function inspectStore(home: string): Promise<StoreLook | null> {
  return (await import('./journal/sqlite/look-at-store.ts')).lookAtStore(join(home, storeFile))
}

/** Everything that was recorded beside and in a folder of runs; no store is made where there is none, and one that cannot be written is read. */
export async function openRecords(folder: string): Promise<Records> {
  const { FileJournal } = await import('./journal/file/file-journal.ts')
  const { Records } = await import('./journal/records.ts')
  const home = dirname(folder)
  const chained = existsSync(join(home, storeFile)) ? await openChainStore(home, { orReadOnly: true }) : null
  return new Records(new FileJournal(folder), chained)
}

/** The id of a public key in PEM. Throws what the platform throws for anything else. */
export async function publicKeyId(pem: string): Promise<string> {
  return (await import('./journal/chain-keys.ts')).keyId(pem)
}

/** A model that can be asked. */
export type Model = AgentOptions['model']

/** Where a person is asked who is the model. */
export interface PersonStreams {
  readonly input: Readable
  readonly output: Writable
}

/** The person at a terminal; everybody who asks them shares one. */
export async function openPerson(streams: PersonStreams): Promise<PersonTerminal> {
  return (await import('./agent/person-terminal.ts')).openPersonTerminal(streams)
}

/**
 * The model of a name; a scripted one goes on after the turns it has `answered`. Throws `unknown_model`, `missing_api_key`, `missing_package` or `invalid_script`, each with
 * what to do.
 */
export async function openModel(
  name: string,
  person: PersonStreams | PersonTerminal,
  answered = 0,
): Promise<Model> {
  if (name === 'me') return (await import('./agent/person-model.ts')).createPersonModel(person)
  const script = /^scripted:(.+)$/s.exec(name)
  if (script !== null)
    return (await import('./agent/scripted-model.ts')).loadScriptedModel(script[1]!, answered)
  return await (await import('./agent/resolve-model.ts')).resolveModel(name)
}

/** Asks a model, by its name, questions in one request. Throws what `openModel` throws, and `model_answer_invalid` when an answer does not fit twice. */
export async function answerQuestions(
  name: string,
  batch: QuestionBatch,
  person: PersonStreams,
): Promise<QuestionAnswers['answers']> {
  const { askQuestions } = await import('./agent/question/ask-questions.ts')
  const { resolveModel } = await import('./agent/resolve-model.ts')
  const model = await resolveModel(await openModel(name, person))
  const { signal } = new AbortController()
  const { answers } = await askQuestions(batch, {
    model,
    maxRetries: 2,
    maxTokens: null,
    signal,
    onText: null,
  })
  return answers
}

/** Makes an agent. Throws what stops a run from starting, such as a tool that is missing. */
export async function prepareAgent(setup: AgentSetup): Promise<ReadyAgent> {
  return await (await import('./agent/prepare-agent.ts')).prepareAgent(setup)
}

/** Writes down what a person says to a held call, without binding any tool. */
export async function writeVote(...args: Parameters<WriteVote>): ReturnType<WriteVote> {
  return await (await import('./agent/write-vote.ts')).writeVote(...args)
}
