/** Which variables the bullets of a playbook set, before any of them is read: everything can then be read in its order. */
import type { MarkdownBlock } from '../../document/markdown-block.ts'
import { longestForm } from './bullet.ts'
import { glanceAt, holds } from './glance.ts'
import { openingOf, opens } from './opening-word.ts'
import type { PlaybookDraft } from './program-draft.ts'
import { isAssignedBare } from './scope.ts'
import { nameEnd, sigilNames } from './sigil-names.ts'
import type { Variables } from './variables.ts'

const name = String.raw`[\p{L}_][\p{L}\p{N}_]*`
const setBare = new RegExp(
  String.raw`^(?:set|initiali[sz]e)\s+(?:the\s+)?(${name})(?:\s+variable)?\s+(?:to|as|with)\s`,
  'iu',
)
const startBare = new RegExp(String.raw`^initiali[sz]e\s+.*\s(?:as|called|named)\s+(${name})$`, 'iu')
const eachBare = new RegExp(String.raw`^for\s+(?:(?:each|every)\s+)?(${name})\s+(?:in|from)\s`, 'iu')
const keepBare = new RegExp(String.raw`(?:store|save|keep|put)\b.*\s(?:in|as|into)\s+(${name})\.?$`, 'iu')
const isForm = new RegExp(String.raw`^(${name})\s+(?:is|=)\s+(.+)$`, 'u')
const assigned = new RegExp(String.raw`^\$(${name})(?:\s*:\s*\w+)?\s*(?:=|\bis\b|\bbecomes\b)(?!=)`, 'u')
const setDollar = new RegExp(
  String.raw`^(?:set|let|initiali[sz]e|calculate|compute|determine)\s+(?:the\s+)?\$(${name})`,
  'iu',
)
const startDollar = new RegExp(String.raw`^initiali[sz]e\s+.*\s(?:as|called|named)\s+\$(${name})`, 'iu')
const eachDollar = new RegExp(String.raw`^for\s+(?:each|every)?\s*\$(${name})\s+(?:in|from)\s`, 'iu')
const keepDollar = new RegExp(String.raw`\b(?:store|save|keep|put)\b.*\s(?:in|as|into)\s+\$(${name})`, 'iu')
const keeper = /\b(?:store|save|keep|put)\b/i
const listForm =
  /^(?:extract|get|collect|obtain|read|find|list)\b(.*?)(?:\s(?:from|using|with|by|for|near|in)\s|$)/iu
const askForm = /\bask\b.*?\s(?:for|provide|enter|give)\s(.*?)(?:\s(?:un)?till?\s|$)/iu

/** The forms that a first word opens: those that set a bare name, and those that set one with `$`. */
const setters: ReadonlyMap<string, { readonly bare: readonly RegExp[]; readonly dollar: readonly RegExp[] }> =
  new Map([
    ['set', { bare: [setBare], dollar: [setDollar] }],
    ['let', { bare: [], dollar: [setDollar] }],
    ['calculate', { bare: [], dollar: [setDollar] }],
    ['compute', { bare: [], dollar: [setDollar] }],
    ['determine', { bare: [], dollar: [setDollar] }],
    ['initialize', { bare: [setBare, startBare], dollar: [setDollar, startDollar] }],
    ['initialise', { bare: [setBare, startBare], dollar: [setDollar, startDollar] }],
    ['for', { bare: [eachBare], dollar: [eachDollar] }],
  ])

/** The families that one of those words opens as well. */
const mayOpenSetter = opens.giving | opens.assignment | opens.loop

/** A glance: most bullets say neither `x is …` nor `x = …`. A `$` begins no bare name. */
function mayAssign(text: string, held: number): boolean {
  if (text.startsWith('$')) return false
  return (held & (holds.equals | holds.is)) !== 0 && (text.includes(' is ') || text.includes('='))
}

/** The name that a text which begins with `$` sets. Most say `$x = …`, which needs no expression. */
function assignedIn(text: string): string | undefined {
  const end = nameEnd(text, 1)
  if (end > 1 && text.startsWith(' = ', end)) return text.slice(1, end)
  return assigned.exec(text)?.[1]
}

const noNames: ReadonlySet<string> = new Set()

/**
 * Notes the variables that the bullets of a playbook set in a form that leaves no doubt: those with `$` are added to the agent's, the
 * others are returned.
 */
export function collectNames(draft: PlaybookDraft, state: Variables): ReadonlySet<string> {
  const collector = new NameCollector(draft, state)
  collector.visit(draft.steps ?? [])
  return collector.locals ?? noNames
}

class NameCollector {
  /** Null while there are none, as in most playbooks. */
  locals: Set<string> | null = null
  readonly #state: Variables
  readonly #parameters: PlaybookDraft['signature']['parameters']

  constructor(draft: PlaybookDraft, state: Variables) {
    this.#state = state
    this.#parameters = draft.signature.parameters
  }

  visit(blocks: readonly MarkdownBlock[]): void {
    for (const block of blocks) {
      if (block.kind !== 'item') continue
      if (block.text.text.length <= longestForm) this.#bullet(block.text.text)
      if (block.children.length > 0) this.visit(block.children)
    }
  }

  #bullet(raw: string): void {
    const held = glanceAt(raw)
    const flat = (held & holds.lineFeed) === 0 ? raw : raw.replaceAll('\n', ' ')
    const text = (held & holds.backtick) === 0 ? flat : flat.replace(/^`|`$/g, '')
    const { word, opens: opening } = openingOf(text)
    const opened = (opening & mayOpenSetter) === 0 ? undefined : setters.get(word)
    const keeps = (held & holds.keeping) !== 0 && keeper.test(text)
    if (opened !== undefined) for (const form of opened.bare) this.#addLocal(form.exec(text)?.[1])
    if (keeps) this.#addLocal(keepBare.exec(text)?.[1])
    const is = mayAssign(text, held) ? isForm.exec(text) : null
    if (is !== null && isAssignedBare(is[1]!, is[2]!)) this.#addLocal(is[1])
    if ((held & holds.dollar) === 0) return
    if (text.startsWith('$')) this.#addState(assignedIn(text))
    if (opened !== undefined) for (const form of opened.dollar) this.#addState(form.exec(text)?.[1])
    if (keeps) this.#addState(keepDollar.exec(text)?.[1])
    // `Extract $a, $b from …`, `Ask user for $a and $b`: all that stand in the list.
    if ((opening & opens.listing) !== 0) this.#addAll(listForm.exec(text)?.[1])
    if (keeps || (held & holds.ask) !== 0) this.#addAll(askForm.exec(text)?.[1])
  }

  #addAll(words: string | undefined): void {
    if (words !== undefined) for (const found of sigilNames(words)) this.#addState(found)
  }

  #addState(found: string | undefined): void {
    if (found !== undefined && !this.#isParameter(found)) this.#state.add(found)
  }

  #addLocal(found: string | undefined): void {
    if (found !== undefined && !this.#isParameter(found)) (this.locals ??= new Set()).add(found)
  }

  #isParameter(found: string): boolean {
    return this.#parameters.some(({ name }) => name === found)
  }
}
