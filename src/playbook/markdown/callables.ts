/** What a program can call: its playbooks, the host's functions, and the tools. */
import { nearestName } from '../../shared/nearest-name.ts'
import type { Call, Parameter } from '../program.ts'
import { wordKey, wordsOf } from './words.ts'

/** A tool as far as a program must know it; `parameters` are the properties of its arguments in their order. */
export interface ProgramTool {
  readonly name: string
  readonly parameters: readonly string[]
  readonly risk: 'read' | 'write' | 'irreversible'
  /** The parameters a call must give; where this is absent nothing is checked before the call. */
  readonly required?: readonly string[]
}

/** One thing that can be called. */
export interface Callable {
  readonly target: Call['target']
  /** The name in the program; for a tool its own. */
  readonly name: string
  /** The agent it belongs to; null for a tool. */
  readonly agent: string | null
  readonly public: boolean
  readonly parameters: readonly Parameter[]
  /** Null where it is not known which parameters must be given. */
  readonly required: readonly string[] | null
  readonly risk: ProgramTool['risk'] | null
}

/** A call with these arguments. A tool takes them by name, so those given by position get the names of its parameters, in their order. */
export function callOf(
  { target, parameters }: Callable,
  positional: readonly string[],
  named: Readonly<Record<string, string>>,
): Call {
  if (target.kind !== 'tool' || positional.length > parameters.length) return { target, positional, named }
  const byPosition = positional.map((value, at) => [parameters[at]!.name, value])
  return { target, positional: [], named: { ...Object.fromEntries(byPosition), ...named } }
}

/** What a name was found to mean. */
export type Found =
  | { readonly kind: 'one'; readonly callable: Callable }
  | { readonly kind: 'several'; readonly names: readonly string[] }
  | { readonly kind: 'private'; readonly callable: Callable }
  | { readonly kind: 'none'; readonly nearest: string | null }

const mostTried = 200
const mostMissed = 100

/** Finds what is called by a name or by words. */
export class Callables {
  readonly all: Callable[] = []
  readonly #byWords = new Map<string, Callable[]>()
  readonly #byFirstWord = new Map<string, { callable: Callable; own: readonly string[] }[]>()
  readonly #agents = new Map<string, string>()
  readonly #agentWords = new Set<string>()
  readonly #firstWords = new Set<string>()
  #missed = 0

  addAgent(name: string): void {
    const words = wordsOf(name)
    this.#agents.set(words.join(' '), name)
    if (words[0] !== undefined) this.#agentWords.add(words[0])
  }

  /** Whether the name of any agent begins with the first word of the text. */
  mayNameAgent(text: string): boolean {
    const [first] = wordsOf(text)
    return first !== undefined && this.#agentWords.has(first)
  }

  add(callable: Callable): void {
    this.all.push(callable)
    const own = wordsOf(callable.name)
    const key = own.join(' ')
    const same = this.#byWords.get(key)
    if (same === undefined) this.#byWords.set(key, [callable])
    else same.push(callable)
    const [first] = own
    if (first !== undefined) this.#firstWords.add(first)
    // One word stands in many a sentence by chance.
    if (first === undefined || own.length < 2) return
    const beginning = this.#byFirstWord.get(first)
    if (beginning === undefined) this.#byFirstWord.set(first, [{ callable, own }])
    else beginning.push({ callable, own })
  }

  /** Whether any name begins with the first word of the text: most sentences need no closer look. */
  mayBegin(text: string): boolean {
    // Names may begin with an article, which does not count.
    const found = /^(?:(?:the|an?|their|his|her|its|your|our|this|that)\s+)?\$?([\p{L}\p{N}]+)/iu.exec(text)
    const [first] = found === null ? [] : wordsOf(found[1]!)
    return first !== undefined && this.#firstWords.has(first)
  }

  /** The agent of that name; also `Accountant` for `Accountant agent`. */
  agentNamed(name: string): string | null {
    const key = wordKey(name)
    if (key === '') return null
    return this.#agents.get(key) ?? this.#agents.get(`${key} agent`) ?? null
  }

  get agentNames(): readonly string[] {
    return [...this.#agents.values()]
  }

  /** What `name(…)`, written in a playbook of an agent, calls. */
  find(name: string, from: string): Found {
    const same = this.#byWords.get(wordKey(name))
    if (same === undefined) return this.#missing(name)
    // The exact spelling wins: `lookup_order` the tool before `Lookup order` the playbook.
    const exact = same.filter((each) => each.name === name)
    return choose(exact.length > 0 ? exact : same, from) ?? this.#missing(name)
  }

  /** What `Agent.name(…)` calls. */
  findIn(agent: string, name: string, from: string): Found {
    const same = (this.#byWords.get(wordKey(name)) ?? []).filter((each) => each.agent === agent)
    const first = same[0]
    if (first === undefined) return this.#missing(name, agent)
    return agent !== from && !first.public
      ? { kind: 'private', callable: first }
      : { kind: 'one', callable: first }
  }

  /** What words call, if they are exactly the words of a name. */
  findWords(words: readonly string[], from: string): Found {
    return choose(this.#byWords.get(words.join(' ')) ?? [], from) ?? { kind: 'none', nearest: null }
  }

  /** Names whose words all stand in the text, in their order: what the author may have meant. */
  resembling(text: string, from: string): string[] {
    const words = wordsOf(text)
    const found: string[] = []
    let tried = 0
    for (let at = 0; at < words.length; at++) {
      for (const { callable, own } of this.#byFirstWord.get(words[at]!) ?? []) {
        if (++tried > mostTried) return found
        const reachable = callable.agent === null || callable.agent === from || callable.public
        if (reachable && follows(own, words, at) && !found.includes(callable.name)) found.push(callable.name)
      }
    }
    return found
  }

  #missing(name: string, agent?: string): Found {
    // Each look takes in every name, so a text full of unknown ones gets no suggestions for all of them.
    if (++this.#missed > mostMissed) return { kind: 'none', nearest: null }
    const names = this.all
      .filter((each) => agent === undefined || each.agent === agent)
      .map((each) => each.name)
    return { kind: 'none', nearest: nearestName(name, names) }
  }
}

function follows(own: readonly string[], words: readonly string[], from: number): boolean {
  let next = 0
  for (let at = from; at < words.length && next < own.length; at++) if (words[at] === own[next]) next++
  return next === own.length
}

/** Its own agent's first, then what is public elsewhere or a tool. */
function choose(same: readonly Callable[], from: string): Found | null {
  const own = same.filter((each) => each.agent === from)
  const other = same.filter((each) => each.agent === null || (each.agent !== from && each.public))
  const pick = own.length > 0 ? own : other
  if (pick.length === 1) return { kind: 'one', callable: pick[0]! }
  if (pick.length > 1) return { kind: 'several', names: pick.map(describe) }
  return same.length > 0 ? { kind: 'private', callable: same[0]! } : null
}

function describe({ agent, name }: Callable): string {
  return agent === null ? name : `${agent}.${name}`
}
