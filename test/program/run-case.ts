import { Agent } from '../../src/agent/agent.ts'
import type { AgentResult } from '../../src/agent/agent-options.ts'
import type { AgentHook } from '../../src/agent/hook.ts'
import { countingModel } from '../../src/agent/question/counting-model.ts'
import { scriptedModel, type ScriptedTurn } from '../../src/agent/scripted-model.ts'
import type { Journal, JournalEntry } from '../../src/journal/journal.ts'
import { MemoryJournal } from '../../src/journal/memory/memory-journal.ts'
import { parseProgram } from '../../src/playbook/markdown/parse-program.ts'
import { programPlaybook } from '../../src/playbook/program-playbook.ts'
import type { Program } from '../../src/playbook/program.ts'
import type { Json, JsonObject } from '../../src/shared/json.ts'
import { programTool } from '../../src/playbook/program-tool.ts'
import { ToolFailure } from '../../src/tool/tool-failure.ts'
import { tool } from '../../src/tool/tool.ts'

/** What a call of a tool comes to: its result, a failure that applied nothing, or an end that nobody knows. */
export type Reply =
  | { readonly result: Json }
  | { readonly failure: string }
  | { readonly unknown: string }
  /** A string of so many characters, or a list so deep. */
  | { readonly huge: number }
  | { readonly deep: number }

/** What a person says: at once, so many characters, or after so many seconds. */
export type Saying = string | number | { readonly after: number; readonly text: string | null }

/** A program, the world around it, and what is to come of it. */
export interface RunCase {
  readonly note: string
  readonly text: string
  readonly tools?: readonly {
    readonly name: string
    readonly parameters?: readonly string[]
    readonly risk?: 'read' | 'write' | 'irreversible'
    /** What each call comes to, in turn; the last holds for all that follow. */
    readonly replies?: readonly Reply[]
  }[]
  readonly inputs?: JsonObject
  /** What the person says, in turn; then they leave. */
  readonly says?: readonly Saying[]
  /** What the model answers, in turn. */
  readonly turns?: readonly ScriptedTurn[]
  /** A hook denies these calls, by tool, or gives them other arguments. */
  readonly deny?: { readonly [tool: string]: string }
  readonly rewrite?: { readonly [tool: string]: JsonObject }
  /** Somebody is asked to approve irreversible calls, and says this. */
  readonly approve?: boolean
  /** What is found out about the calls whose outcome nobody knew, in turn. */
  readonly settle?: readonly { readonly outcome: 'succeeded' | 'failed'; readonly result?: Json }[]
  readonly maxIterations?: number
  readonly want: {
    readonly status: string
    /** What the run returned, in words. */
    readonly message?: string
    /** A part of why it did not succeed. */
    readonly reason?: string
    readonly said?: readonly string[]
    readonly calls?: readonly string[]
    readonly variables?: JsonObject
    /** The kinds of the questions of each request to the model; `turn` where it worked on a bullet. */
    readonly asked?: readonly string[]
    /** The codes of the calls that were refused. */
    readonly denied?: readonly string[]
  }
}

/** How a run went. */
export interface CaseRun {
  readonly result: AgentResult
  readonly said: readonly string[]
  readonly calls: readonly string[]
  readonly variables: JsonObject
  readonly asked: readonly string[]
  readonly denied: readonly string[]
}

/** The program of a case; throws what is wrong with its text. */
export function programOf({ text, tools = [] }: Pick<RunCase, 'text' | 'tools'>): Program {
  const known = tools.map(({ name, parameters = [], risk = 'read' }) =>
    programTool({ name, risk, input: inputOf(parameters) }),
  )
  const { program, diagnostics } = parseProgram([{ file: 'case.md', text }], {
    tools: known,
    hostFunctions: tools.map(({ name }) => name),
  })
  if (program === null)
    throw new Error(diagnostics.map(({ line, message }) => `${line}: ${message}`).join('\n'))
  return program
}

function inputOf(parameters: readonly string[]) {
  return { type: 'object', properties: Object.fromEntries(parameters.map((name) => [name, {}])) } as const
}

/** A journal that notes after which entries a crash can happen, and how far the model's script had come by then. */
export class CuttableJournal extends MemoryJournal {
  readonly ends: { readonly seq: number; readonly asked: number }[] = []
  asked: () => number = () => 0

  override async append(...given: Parameters<Journal['append']>) {
    const asked = this.asked()
    const entries = await super.append(...given)
    this.ends.push({ seq: entries.at(-1)!.seq, asked })
    return entries
  }
}

/** The world of a case as it stands after some entries of the record: who has spoken and what was called is not repeated. */
export function worldOf(each: RunCase, journal: Journal, past: readonly JournalEntry[] = [], answered = 0) {
  const calls = executed(past)
  const counts = new Map<string, number>()
  for (const { tool: name } of calls) counts.set(name, (counts.get(name) ?? 0) + 1)
  const tools = (each.tools ?? []).map(({ name, parameters = [], risk = 'read', replies = [] }) =>
    tool({
      name,
      description: name,
      risk,
      input: inputOf(parameters),
      execute: (args) => {
        calls.push({ tool: name, args })
        const number = counts.get(name) ?? 0
        counts.set(name, number + 1)
        return replyOf(replies[Math.min(number, replies.length - 1)] ?? { result: null })
      },
    }),
  )
  const turns = (each.turns ?? []).slice(answered)
  // A script has a turn; where none is wanted, one that answers nothing shows up as a request too many.
  const model = countingModel(
    scriptedModel({ turns: turns.length === 0 ? [{ text: 'unwanted' }] : turns }, 'case'),
  )
  const says = (each.says ?? []).slice(past.filter(({ type }) => type === 'message.received').length)
  const { approve, maxIterations } = each
  const agent = new Agent({
    model: model.model,
    playbook: programPlaybook(programOf(each), 'case'),
    journal,
    tools,
    hooks: [hookOf(each)],
    ...(approve === undefined ? {} : { onApproval: () => approve }),
    ...(maxIterations === undefined ? {} : { maxIterations }),
  })
  return {
    agent,
    calls,
    requests: model.requests,
    person: { hear: async () => await spoken(says.shift() ?? null) },
  }
}

async function spoken(saying: Saying | null): Promise<string | null> {
  if (saying === null || typeof saying === 'string') return saying
  if (typeof saying === 'number') return 'x'.repeat(saying)
  await new Promise((resolve) => void setTimeout(resolve, saying.after * 1000))
  return saying.text
}

function replyOf(reply: Reply): Json {
  if ('failure' in reply) throw new ToolFailure(reply.failure)
  if ('unknown' in reply) throw new Error(reply.unknown)
  if ('huge' in reply) return 'x'.repeat(reply.huge)
  if ('result' in reply) return reply.result
  let value: Json = []
  for (let depth = 0; depth < reply.deep; depth++) value = [value]
  return value
}

function hookOf({ deny = {}, rewrite = {} }: RunCase): AgentHook {
  return {
    beforeToolCall: ({ tool: name }) => {
      if (Object.hasOwn(deny, name)) return { deny: deny[name]! }
      return Object.hasOwn(rewrite, name) ? { arguments: rewrite[name]! } : undefined
    },
  }
}

/** The calls of tools that were carried out and came back, in order. */
function executed(entries: readonly JournalEntry[]): { tool: string; args: JsonObject }[] {
  const admitted = new Map(
    entries.flatMap(({ type, data }) => (type === 'tool.admitted' ? [[data['callId'], data] as const] : [])),
  )
  const own = new Set(
    entries.flatMap(({ type, data }) => (type === 'playbook.begun' ? [data['callId']] : [])),
  )
  const settled = entries.filter(
    ({ type, data }) =>
      type === 'tool.settled' && data['outcome'] !== 'not_executed' && !own.has(data['callId'] as string),
  )
  const once = [...new Set(settled.map(({ data }) => data['callId']))]
  return once.map((callId) => {
    const { tool: name, args } = admitted.get(callId) as { tool: string; args: JsonObject }
    return { tool: name, args }
  })
}

/** What a run came to, as far as cases say it. */
export function describeRun(each: RunCase, result: AgentResult, world: ReturnType<typeof worldOf>): CaseRun {
  const { entries } = result.snapshot
  const [first] = programOf(each).agents
  const variables: [string, Json][] = entries.flatMap(({ type, data }) => {
    if (type !== 'variable.set' || data['agent'] === null) return []
    const name = String(data['name'])
    const value = data['value'] as Json
    return [[data['agent'] === first!.name ? name : `${String(data['agent'])}.${name}`, value]]
  })
  return {
    result,
    said: entries.flatMap(({ type, data }) =>
      type === 'message.sent'
        ? [`agent: ${String(data['text'])}`]
        : type === 'message.received'
          ? [`person: ${String(data['text'])}`]
          : [],
    ),
    calls: world.calls.map(({ tool: name, args }) => `${name} ${JSON.stringify(args)}`),
    variables: Object.fromEntries(variables),
    asked: world.requests.map(({ questions }) => questions.map(({ kind }) => kind).join('+') || 'turn'),
    denied: entries.flatMap(({ type, data }) => (type === 'tool.denied' ? [String(data['code'])] : [])),
  }
}

/** Works a case through: what nobody knows is found out as the case says, and the run is taken up. */
export async function runCase(each: RunCase, journal: CuttableJournal): Promise<CaseRun> {
  const world = worldOf(each, journal)
  journal.asked = () => world.requests.length
  let result = await world.agent.run('', { run: 'r1', person: world.person, ...inputsOf(each) })
  for (const found of each.settle ?? []) {
    const unknown = unknownCall(result)
    if (unknown === null) break
    result = await world.agent.resume('r1', { person: world.person, settle: { [unknown]: found } })
  }
  return describeRun(each, result, world)
}

function inputsOf({ inputs }: RunCase): { readonly inputs?: JsonObject } {
  return inputs === undefined ? {} : { inputs }
}

/** The call of a run that was put down because nobody knows what became of it. */
export function unknownCall({ status, snapshot }: AgentResult): string | null {
  if (status !== 'incomplete') return null
  const open = new Map<unknown, unknown>()
  for (const { type, data } of snapshot.entries)
    if (type === 'tool.settled') open.set(data['callId'], data['outcome'])
  const last = [...open].findLast(([, outcome]) => outcome === 'unknown')
  return last === undefined ? null : String(last[0])
}
