/** Which variables the bullets of a playbook set, before any of them is read: everything can then be read in its order. */
import type { MarkdownBlock } from '../../document/markdown-block.ts'
import { firstWord, longestForm } from './bullet.ts'
import type { PlaybookDraft } from './program-draft.ts'
import { isAssignedBare } from './scope.ts'
import { nameEnd, sigilNames } from './sigil-names.ts'

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
/** A glance: most bullets neither keep nor ask for anything. */
const keepsOrAsks = /\b(?:store|save|keep|put|ask)\b/i
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
const listers: ReadonlySet<string> = new Set('extract get collect obtain read find list'.split(' '))

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
export function collectNames(draft: PlaybookDraft, state: Set<string>): ReadonlySet<string> {
  const collector = new NameCollector(draft, state)
  collector.visit(draft.steps ?? [])
  return collector.locals ?? noNames
}

class NameCollector {
  /** Null while there are none, as in most playbooks. */
  locals: Set<string> | null = null
  readonly #state: Set<string>
  readonly #parameters: PlaybookDraft['signature']['parameters']

  constructor(draft: PlaybookDraft, state: Set<string>) {
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
    const flat = raw.includes('\n') ? raw.replaceAll('\n', ' ') : raw
    const text = flat.includes('`') ? flat.replace(/^`|`$/g, '') : flat
    const word = firstWord(text)
    const opened = setters.get(word)
    const may = keepsOrAsks.test(text)
    const keeps = may && keeper.test(text)
    if (opened !== undefined) for (const form of opened.bare) this.#addLocal(form.exec(text)?.[1])
    if (keeps) this.#addLocal(keepBare.exec(text)?.[1])
    const is = text.includes(' is ') || text.includes('=') ? isForm.exec(text) : null
    if (is !== null && isAssignedBare(is[1]!, is[2]!)) this.#addLocal(is[1])
    if (!text.includes('$')) return
    if (text.startsWith('$')) this.#addState(assignedIn(text))
    if (opened !== undefined) for (const form of opened.dollar) this.#addState(form.exec(text)?.[1])
    if (keeps) this.#addState(keepDollar.exec(text)?.[1])
    // `Extract $a, $b from …`, `Ask user for $a and $b`: all that stand in the list.
    if (listers.has(word)) this.#addAll(listForm.exec(text)?.[1])
    if (may) this.#addAll(askForm.exec(text)?.[1])
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
