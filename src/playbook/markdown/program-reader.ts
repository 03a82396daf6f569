/** Drafts → the program: names first, so that everything can be called before any of it is read; then each playbook. */
import type { MarkdownText } from '../../document/markdown-block.ts'
import type { Json, JsonObject } from '../../shared/json.ts'
import type { Procedure, Program, ProgramAgent } from '../program.ts'
import { type Callable, Callables, type ProgramTool } from './callables.ts'
import { changesSomething } from './changes-something.ts'
import { checkProgram } from './check-program.ts'
import { collectNames } from './collect-names.ts'
import { readDescription } from './description.ts'
import type { Findings } from './findings.ts'
import { type HostFunction, hostFunctions } from './host-function.ts'
import { inferTruth } from './infer-truth.ts'
import { literalsIn } from './literals.ts'
import { reportLooseGuards } from './loose-guard.ts'
import { isCount } from './metadata.ts'
import { reportMisplacedRules } from './misplaced-rule.ts'
import type { ParseProgramOptions } from './parse-program.ts'
import type { AgentDraft, PlaybookDraft } from './program-draft.ts'
import { buildHostProcedure, buildProcedure } from './read-playbook.ts'
import type { LooseGuard, StepContext, UnresolvedStep } from './step-context.ts'
import { reportStrays } from './strays.ts'
import { Variables } from './variables.ts'
import { idFromName, wordKey, wordsOf } from './words.ts'

/** The turns that a loop without a bound takes, where front matter says nothing. */
const usualTurns = 50
/** The tool calls that a natural-language step may make, where nothing says otherwise. */
const usualCalls = 10
/** What front matter says that is not kept as metadata. */
const ownKeys: ReadonlySet<string> = new Set(['name', 'tools', 'max_turns', 'max_model_calls'])

/** A playbook or function with the id it was given. */
interface Known {
  readonly draft: PlaybookDraft | HostFunction
  readonly id: string
  readonly heading: MarkdownText | null
}

/** Reads the drafts of a program into its tree. */
export class ProgramReader {
  readonly unresolved: UnresolvedStep[] = []
  readonly #guards: LooseGuard[] = []
  readonly #drafts: readonly AgentDraft[]
  readonly #front: JsonObject
  readonly #options: ParseProgramOptions
  readonly #findings: Findings
  readonly #toolTable: ReadonlyMap<string, ProgramTool>
  readonly #resolutions: ReadonlyMap<string, string>
  readonly #callables = new Callables()
  readonly #variables = new Map<string, Variables>()
  readonly #ids = new Set<string>()
  /** The notes of each agent, below whichever heading of its name they stand. */
  readonly #notes = new Map<string, MarkdownText[]>()
  /** How far the numbers of a name that several playbooks would have are used up. */
  readonly #numbers = new Map<string, number>()

  constructor(
    drafts: readonly AgentDraft[],
    front: JsonObject,
    options: ParseProgramOptions,
    findings: Findings,
  ) {
    this.#drafts = drafts
    this.#front = front
    this.#options = options
    this.#findings = findings
    this.#toolTable = new Map((options.tools ?? []).map((tool) => [tool.name, tool]))
    this.#resolutions = new Map(Object.entries(options.resolutions ?? {}))
  }

  read(name: string): Program {
    for (const { name: agent, notes } of this.#drafts) {
      this.#callables.addAgent(agent)
      if (notes.length > 0) this.#notes.set(agent, [...(this.#notes.get(agent) ?? []), ...notes])
    }
    const known = this.#drafts.map((draft) => this.#name(draft))
    for (const tool of this.#options.tools ?? []) this.#callables.add(toolCallable(tool))
    const maxTurns = isCount(this.#front['max_turns']) ? this.#front['max_turns'] : usualTurns
    const tools = stringsOf(this.#front['tools'])
    this.#checkTools(tools, null)
    const literals = literalsIn(this.#drafts)
    const agents = this.#drafts.map((draft, index): ProgramAgent =>
      this.#agent(draft, known[index]!, { maxTurns, tools, literals }),
    )
    const calls = this.#front['max_model_calls']
    const metadata = Object.fromEntries(Object.entries(this.#front).filter(([key]) => !ownKeys.has(key)))
    const program: Program = {
      name,
      agents,
      tools,
      maxTurns,
      maxModelCalls: isCount(calls) ? calls : null,
      metadata,
    }
    const inferred = inferTruth(program)
    checkProgram(inferred, this.#variables.values(), this.#findings)
    reportLooseGuards(this.#guards, program, this.#toolTable, this.#findings)
    reportMisplacedRules(this.#drafts, this.#front['notes'], this.#toolTable, this.#findings)
    reportStrays(
      this.#drafts.flatMap(({ playbooks }) => playbooks.flatMap(({ strays }) => strays)),
      () => changesSomething(program, this.#toolTable),
      this.#findings,
    )
    return inferred.program
  }

  /** Gives every playbook and function of an agent an id, so that all can be called before any is read. */
  #name(agent: AgentDraft): Known[] {
    const own = new Map<string, number>()
    const known: Known[] = []
    const functions = agent.code.flatMap((block) =>
      hostFunctions(block).map((each) => ({ each, fence: block.fence })),
    )
    for (const playbook of agent.playbooks) {
      const { name } = playbook.signature
      if (name === '') {
        this.#findings.error(
          'invalid_name',
          { text: playbook.heading },
          'the playbook has no name',
          'write `## Name`',
        )
      }
      const words = wordsOf(name)
      if (this.#isTwice(name, words.join(' '), own, playbook.heading)) continue
      const id = this.#id(name, agent.name)
      known.push({ draft: playbook, id, heading: playbook.heading })
      this.#callables.add(
        callableOf(name, id, agent.name, playbook.signature.parameters, playbook.metadata['public'] === true),
        words,
      )
    }
    for (const { each, fence } of functions) {
      if (own.has(wordKey(each.name))) {
        this.#findings.error('duplicate_playbook', fence, `there is a playbook \`${each.name}\` already`)
        continue
      }
      own.set(wordKey(each.name), 1)
      const id = this.#id(each.name, agent.name)
      known.push({ draft: each, id, heading: null })
      this.#callables.add(callableOf(each.name, id, agent.name, each.parameters, each.public))
      if (!(this.#options.hostFunctions ?? []).includes(each.name)) {
        this.#findings.warn(
          'host_function',
          fence,
          `the code of \`${each.name}\` is not run; the host must supply a function of that name`,
          'register it in TypeScript',
        )
      }
    }
    return known
  }

  #isTwice(name: string, key: string, own: Map<string, number>, heading: MarkdownText): boolean {
    const line = own.get(key)
    if (line === undefined) {
      own.set(key, heading.first.number)
      return false
    }
    this.#findings.error(
      'duplicate_playbook',
      { text: heading },
      `there is a playbook \`${name}\` already, on line ${line}`,
      'give one of them another name',
    )
    return true
  }

  #id(name: string, agent: string): string {
    const plain = idFromName(name) || `Playbook${this.#ids.size + 1}`
    let id = plain
    if (this.#ids.has(id)) {
      const full = `${idFromName(agent) || 'Agent'}.${plain}`
      id = full
      let count = this.#numbers.get(full) ?? 1
      while (this.#ids.has(id)) id = `${full}_${++count}`
      this.#numbers.set(full, count)
    }
    this.#ids.add(id)
    return id
  }

  #agent(
    draft: AgentDraft,
    known: readonly Known[],
    program: {
      maxTurns: number
      tools: readonly string[]
      literals: (agent: string, name: string) => ReadonlySet<string>
    },
  ): ProgramAgent {
    const certain = new Variables()
    const localsOf = new Map(draft.playbooks.map((playbook) => [playbook, collectNames(playbook, certain)]))
    const agentTools = [...new Set([...program.tools, ...stringsOf(draft.metadata['tools'])])]
    const literalsOf = (name: string): ReadonlySet<string> => program.literals(draft.name, name)
    const count = certain.names.length
    const read = (state: Variables, elsewhere: Variables | null) => {
      const playbooks = known.map(({ draft: each, id }): Procedure => {
        if ('returns' in each) return buildHostProcedure(each, id)
        const own = stringsOf(each.metadata['tools'])
        this.#checkTools(own, each.heading)
        const context: StepContext = {
          agent: draft.name,
          playbook: id,
          scope: {
            parameters: new Map(each.signature.parameters.map((parameter) => [parameter.name, parameter])),
            locals: localsOf.get(each) ?? new Set(),
            state,
            elsewhere,
          },
          callables: this.#callables,
          findings: this.#findings,
          uses: state,
          tools: own.length === 0 ? agentTools : [...new Set([...agentTools, ...own])],
          toolTable: this.#toolTable,
          maxTurns: isCount(each.metadata['max_turns']) ? each.metadata['max_turns'] : program.maxTurns,
          maxCalls: isCount(each.metadata['max_calls']) ? each.metadata['max_calls'] : usualCalls,
          returns: each.signature.returns,
          literalsOf,
          resolutions: this.#resolutions,
          unresolved: this.unresolved,
          guards: this.#guards,
        }
        return buildProcedure(each, id, context, this.#notes.get(draft.name))
      })
      const description = readDescription(draft.description, {
        callables: this.#callables,
        agent: draft.name,
        of: 'agent',
        scope: { parameters: new Map(), locals: new Set(), state, elsewhere },
        findings: this.#findings,
      })
      const agent = { name: draft.name, kind: draft.kind, description, metadata: draft.metadata, playbooks }
      return { agent, variables: state }
    }
    const mark = [this.#findings.diagnostics.length, this.unresolved.length, this.#guards.length] as const
    const first = read(certain, null)
    if (!this.#findings.diagnostics.slice(mark[0]).some((each) => each.code === 'unset_variable'))
      return this.#accept(first)
    // A later step in words may bring the variable into being; now all of those are known.
    this.#findings.diagnostics.length = mark[0]
    this.unresolved.length = mark[1]
    this.#guards.length = mark[2]
    return this.#accept(read(new Variables(certain.names.slice(0, count)), first.variables))
  }

  /** Takes an agent as it was read; several headings may name the same one. */
  #accept({ agent, variables }: { agent: ProgramAgent; variables: Variables }): ProgramAgent {
    const before = this.#variables.get(agent.name)
    if (before === undefined) this.#variables.set(agent.name, variables)
    else before.addUses(variables)
    return agent
  }

  #checkTools(names: readonly string[], heading: MarkdownText | null): void {
    const { tools } = this.#options
    if (tools === undefined) return
    for (const name of names) {
      if (this.#toolTable.has(name)) continue
      const found = this.#callables.find(name, '')
      const suggestion =
        found.kind === 'none' && found.nearest !== null ? `did you mean \`${found.nearest}\`?` : null
      const place = heading ?? this.#drafts[0]?.heading ?? this.#drafts[0]?.playbooks[0]?.heading
      if (place !== undefined && place !== null)
        this.#findings.error('unknown_tool', { text: place }, `there is no tool \`${name}\``, suggestion)
    }
  }
}

function callableOf(
  name: string,
  id: string,
  agent: string,
  parameters: Callable['parameters'],
  isPublic: boolean,
): Callable {
  return {
    target: { kind: 'playbook', id },
    name,
    agent,
    public: isPublic,
    parameters,
    required: requiredOf(parameters),
    risk: null,
  }
}

function requiredOf(parameters: Callable['parameters']): readonly string[] {
  if (parameters.length === 0) return []
  return parameters.filter((each) => each.default === undefined).map((each) => each.name)
}

function toolCallable(tool: ProgramTool): Callable {
  return {
    target: { kind: 'tool', name: tool.name },
    name: tool.name,
    agent: null,
    public: true,
    parameters: tool.parameters.map((name) => ({ name, type: 'any' })),
    required: tool.required ?? null,
    open: tool.open === true,
    risk: tool.risk,
  }
}

function stringsOf(value: Json | undefined): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : []
}
