/** What a program can call: its playbooks, the host's functions, and the tools. */
import { nearestName } from '../../shared/nearest-name.ts'
import type { Call, Parameter } from '../program.ts'
import { WordStarts } from './word-starts.ts'
import { openingWord, wordKey, wordsOf } from './words.ts'

/** A tool as far as a program must know it; `parameters` are the properties of its arguments in their order. */
export interface ProgramTool {
  readonly name: string
  readonly parameters: readonly string[]
  readonly risk: 'read' | 'write' | 'irreversible'
  /** The parameters a call must give; where this is absent nothing is checked before the call. */
  readonly required?: readonly string[]
  /** Nothing says what it takes: any argument goes, by name. */
  readonly open?: boolean
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
  /** Whether it takes any argument by name, because nothing says which there are. */
  readonly open?: boolean
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

const nothing: Found = { kind: 'none', nearest: null }

const mostTried = 200
const mostMissed = 100

/** Several that have the same key: the first, tools and what is public, and those of each agent. */
interface Namesakes {
  readonly first: Callable
  readonly open: Callable[]
  readonly byAgent: Map<string, Callable[]>
}

/** What is called by each key, found without a look at what other agents keep to themselves. Most keys have one alone. */
class CallableIndex {
  readonly #byKey = new Map<string, Callable | Namesakes>()

  add(key: string, callable: Callable): void {
    const known = this.#byKey.get(key)
    if (known === undefined) this.#byKey.set(key, callable)
    else if ('first' in known) addTo(known, callable)
    else {
      const several: Namesakes = { first: known, open: [], byAgent: new Map() }
      addTo(several, known)
      addTo(several, callable)
      this.#byKey.set(key, several)
    }
  }

  /** The first of an agent's own. */
  firstOf(agent: string, key: string): Callable | undefined {
    const known = this.#byKey.get(key)
    if (known === undefined) return undefined
    if ('first' in known) return known.byAgent.get(agent)?.[0]
    return known.agent === agent ? known : undefined
  }

  /** Its own agent's first, then what is public elsewhere or a tool; null where nothing is called that. */
  choose(key: string, from: string): Found | null {
    const known = this.#byKey.get(key)
    if (known === undefined) return null
    if (!('first' in known))
      return isOpen(known) || known.agent === from
        ? { kind: 'one', callable: known }
        : { kind: 'private', callable: known }
    const pick = known.byAgent.get(from) ?? known.open
    if (pick.length === 1) return { kind: 'one', callable: pick[0]! }
    if (pick.length > 1) return { kind: 'several', names: pick.map(describe) }
    return { kind: 'private', callable: known.first }
  }
}

function addTo({ open, byAgent }: Namesakes, callable: Callable): void {
  if (isOpen(callable)) open.push(callable)
  if (callable.agent !== null) pushTo(byAgent, callable.agent, callable)
}

/** Whether every agent can call it. */
function isOpen({ agent, public: isPublic }: Callable): boolean {
  return agent === null || isPublic
}

/** What begins with the same word. `place` counts all of them in the order they were added. */
interface Beginning {
  count: number
  readonly open: Named[]
  readonly closed: Map<string, Named[]>
}

interface Named {
  readonly callable: Callable
  readonly own: readonly string[]
  readonly place: number
}

/** Finds what is called by a name or by words. */
export class Callables {
  readonly all: Callable[] = []
  readonly #byName = new CallableIndex()
  readonly #byWords = new CallableIndex()
  readonly #byFirstWord = new Map<string, Beginning>()
  readonly #agents = new Map<string, string>()
  /** What stands before the dot in names of tools. */
  readonly #dotted = new Set<string>()
  readonly #agentWords = new Set<string>()
  readonly #firstWords = new Set<string>()
  /** How the names of several words begin, for a glance at a sentence. */
  readonly #starts = new WordStarts()
  readonly #allStarts = new WordStarts()
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

  /** Adds what can be called; `own` are the words of its name. */
  add(callable: Callable, own: readonly string[] = wordsOf(callable.name)): void {
    this.all.push(callable)
    this.#byName.add(callable.name, callable)
    const dot = callable.agent === null ? callable.name.indexOf('.') : -1
    if (dot > 0) this.#dotted.add(callable.name.slice(0, dot))
    this.#byWords.add(own.join(' '), callable)
    const first = own[0]
    if (first !== undefined) this.#firstWords.add(first)
    this.#allStarts.add(first ?? '')
    // One word stands in many a sentence by chance.
    if (first === undefined || own.length < 2) return
    this.#starts.add(first)
    const beginning: Beginning = this.#byFirstWord.get(first) ?? { count: 0, open: [], closed: new Map() }
    this.#byFirstWord.set(first, beginning)
    const named = { callable, own, place: beginning.count++ }
    if (callable.agent === null || callable.public) beginning.open.push(named)
    else pushTo(beginning.closed, callable.agent, named)
  }

  /** Whether any name begins with the first word of the text: most sentences need no closer look. */
  mayBegin(text: string): boolean {
    const first = openingWord(text)
    return first !== undefined && this.#firstWords.has(first)
  }

  /** Whether the first word of any name may stand in the text, in one of its forms. */
  mayBeSpokenOf(text: string): boolean {
    return this.#allStarts.mayStandIn(text)
  }

  /** The agent of that name; also `Accountant` for `Accountant agent`. */
  agentNamed(name: string): string | null {
    const key = wordKey(name)
    if (key === '') return null
    return this.#agents.get(key) ?? this.#agents.get(`${key} agent`) ?? null
  }

  /** Whether any tool is called `name.…`. */
  leadsTool(name: string): boolean {
    return this.#dotted.has(name)
  }

  get agentNames(): readonly string[] {
    return [...this.#agents.values()]
  }

  /** What `name(…)`, written in a playbook of an agent, calls; where it calls nothing, with what was perhaps meant. */
  find(name: string, from: string): Found {
    return this.findKnown(name, from) ?? this.#missing(name)
  }

  /** The same for those who do not ask what was meant: null where it calls nothing. */
  findKnown(name: string, from: string): Found | null {
    // The exact spelling wins: `lookup_order` the tool before `Lookup order` the playbook.
    return this.#byName.choose(name, from) ?? this.#byWords.choose(wordKey(name), from)
  }

  /** What `Agent.name(…)` calls. */
  findIn(agent: string, name: string, from: string): Found {
    return this.findKnownIn(agent, name, from) ?? this.#missing(name, agent)
  }

  /** The same for those who do not ask what was meant. */
  findKnownIn(agent: string, name: string, from: string): Found | null {
    const first = this.#byWords.firstOf(agent, wordKey(name))
    if (first === undefined) return null
    return agent !== from && !first.public
      ? { kind: 'private', callable: first }
      : { kind: 'one', callable: first }
  }

  /** What words call, if they are exactly the words of a name. */
  findWords(words: readonly string[], from: string): Found {
    return this.findKey(words.join(' '), from)
  }

  /** The same with the words already joined by blanks. */
  findKey(key: string, from: string): Found {
    return this.#byWords.choose(key, from) ?? nothing
  }

  /** Names whose words all stand in the text, in their order: what the author may have meant. */
  resembling(text: string, from: string): string[] {
    // Most sentences hold no word that any name begins with.
    if (!this.#starts.mayStandIn(text)) return []
    const words = wordsOf(text)
    const found: string[] = []
    let tried = 0
    for (let at = 0; at < words.length; at++) {
      const beginning = this.#byFirstWord.get(words[at]!)
      if (beginning === undefined) continue
      for (const { callable, own } of reachable(beginning, from, mostTried - tried)) {
        if (follows(own, words, at) && !found.includes(callable.name)) found.push(callable.name)
      }
      tried += beginning.count
      if (tried >= mostTried) break
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

function pushTo<T>(map: Map<string, T[]>, key: string, value: T): void {
  const list = map.get(key)
  if (list === undefined) map.set(key, [value])
  else list.push(value)
}

/** Of the first so many, those that an agent can reach, in their order. */
function reachable({ open, closed }: Beginning, from: string, most: number): readonly Named[] {
  const own = closed.get(from)
  if (own === undefined && open.length === 0) return open
  return [...open.slice(0, most), ...(own ?? []).slice(0, most)]
    .filter(({ place }) => place < most)
    .toSorted((a, b) => a.place - b.place)
}

function follows(own: readonly string[], words: readonly string[], from: number): boolean {
  let next = 0
  for (let at = from; at < words.length && next < own.length; at++) if (words[at] === own[next]) next++
  return next === own.length
}

function describe({ agent, name }: Callable): string {
  return agent === null ? name : `${agent}.${name}`
}
