import type { MarkdownBlock } from '../../document/markdown-block.ts'
import type { Parameter, Target, ValueType } from '../program.ts'
import { firstWord } from './bullet.ts'
import type { PlaybookDraft } from './program-draft.ts'

/** The variables that a playbook may use: its own, and those of its agent. */
export interface Scope {
  readonly parameters: ReadonlyMap<string, Parameter>
  /** Names without `$` that a step of the playbook sets. */
  readonly locals: ReadonlySet<string>
  /** Names with `$` that any playbook of the agent sets. */
  readonly state: Set<string>
  /** Names that a natural-language step of the agent brings into being: known to readers, still to be set by that step. */
  readonly elsewhere: ReadonlySet<string>
}

/** Names that are there without being set. */
export const givenNames: ReadonlySet<string> = new Set([
  'agent',
  'current_playbook_call',
  'call',
  'timestamp',
  'startup_message',
])

/** Says whether the name is a variable of the scope. */
export function isKnown(scope: Scope, name: string, sigil: boolean): boolean {
  return scope.elsewhere.has(name) || isSet(scope, name, sigil)
}

/** Says whether a step in a definite form, or an earlier one in words, sets the name. */
export function isSet(scope: Scope, name: string, sigil: boolean): boolean {
  return (
    scope.locals.has(name) ||
    scope.state.has(name) ||
    givenNames.has(name) ||
    scope.parameters.has(name) ||
    (!sigil && /^call_\d+$/.test(name))
  )
}

/** Where a value of that name goes: parameters and bare names are the call's own, `$names` the agent's. */
export function targetIn(scope: Scope, name: string, sigil: boolean, type: ValueType = 'any'): Target {
  const own = scope.parameters.get(name)
  const local =
    own !== undefined ||
    (!sigil && !scope.state.has(name)) ||
    (sigil && scope.locals.has(name) && !scope.state.has(name))
  return { name, scope: local ? 'local' : 'state', type: type === 'any' ? (own?.type ?? 'any') : type }
}

const name = String.raw`[\p{L}_][\p{L}\p{N}_]*`
const sigils = new RegExp(String.raw`\$(${name})`, 'gu')
const bareForms = [
  new RegExp(
    String.raw`^(?:set|initiali[sz]e)\s+(?:the\s+)?(${name})(?:\s+variable)?\s+(?:to|as|with)\s`,
    'iu',
  ),
  new RegExp(String.raw`^initiali[sz]e\s+.*\s(?:as|called|named)\s+(${name})$`, 'iu'),
  new RegExp(String.raw`^for\s+(?:each|every)\s+(${name})\s+(?:in|from)\s`, 'iu'),
  new RegExp(String.raw`^for\s+(${name})\s+(?:in|from)\s`, 'iu'),
  new RegExp(String.raw`(?:store|save|keep|put)\b.*\s(?:in|as|into)\s+(${name})\.?$`, 'iu'),
]
const isForm = new RegExp(String.raw`^(${name})\s+(?:is|=)\s+(.+)$`, 'u')
const dollarForms = [
  new RegExp(String.raw`^\$(${name})(?:\s*:\s*\w+)?\s*(?:=|\bis\b|\bbecomes\b)(?!=)`, 'u'),
  new RegExp(
    String.raw`^(?:set|let|initiali[sz]e|calculate|compute|determine)\s+(?:the\s+)?\$(${name})`,
    'iu',
  ),
  new RegExp(String.raw`^initiali[sz]e\s+.*\s(?:as|called|named)\s+\$(${name})`, 'iu'),
  new RegExp(String.raw`^for\s+(?:each|every)?\s*\$(${name})\s+(?:in|from)\s`, 'iu'),
  new RegExp(String.raw`\b(?:store|save|keep|put)\b.*\s(?:in|as|into)\s+\$(${name})`, 'iu'),
]

/** The variables that the bullets of a playbook set in a form that leaves no doubt. */
export function collectNames(draft: PlaybookDraft): { locals: Set<string>; state: Set<string> } {
  const locals = new Set<string>()
  const state = new Set<string>()
  const visit = (blocks: readonly MarkdownBlock[]): void => {
    for (const block of blocks) {
      if (block.kind !== 'item') continue
      collectFrom(block.text.text, locals, state)
      visit(block.children)
    }
  }
  visit(draft.steps ?? [])
  for (const { name: parameter } of draft.signature.parameters) {
    locals.delete(parameter)
    state.delete(parameter)
  }
  return { locals, state }
}

const setters: ReadonlySet<string> = new Set(
  'set let initialize initialise for calculate compute determine'.split(' '),
)
const keeper = /\b(?:store|save|keep|put)\b/i

function collectFrom(raw: string, locals: Set<string>, state: Set<string>): void {
  if (raw.length > 10_000) return
  const flat = raw.includes('\n') ? raw.replaceAll('\n', ' ') : raw
  const text = flat.includes('`') ? flat.replace(/^`|`$/g, '') : flat
  const word = firstWord(text)
  const tells = setters.has(word) || keeper.test(text)
  if (!tells && !text.includes('$') && !text.includes(' is ') && !text.includes('=')) return
  for (const form of tells ? bareForms : []) {
    const found = form.exec(text)?.[1]
    if (found !== undefined) locals.add(found)
  }
  const is = text.includes('is') || text.includes('=') ? isForm.exec(text) : null
  if (is !== null && isAssignedBare(is[1]!, is[2]!)) locals.add(is[1]!)
  if (!text.includes('$')) return
  for (const form of tells || text.startsWith('$') ? dollarForms : []) {
    const found = form.exec(text)?.[1]
    if (found !== undefined) state.add(found)
  }
  // `Extract $a, $b from …`, `Ask user for $a and $b`: all that stand in the list.
  const list =
    /^(?:extract|get|collect|obtain|read|find|list)\b(.*?)(?:\s(?:from|using|with|by|for|near|in)\s|$)/iu.exec(
      text,
    )
  const asked = !/\bask\b/i.test(text)
    ? null
    : /\bask\b.*?\s(?:for|provide|enter|give)\s(.*?)(?:\s(?:un)?till?\s|$)/iu.exec(text)
  for (const part of [list?.[1], asked?.[1]]) {
    for (const [, found] of part?.matchAll(sigils) ?? []) state.add(found!)
  }
}

/** `base is 10` sets; `Payment is required` only says. */
export function isAssignedBare(target: string, value: string): boolean {
  if (!/^\p{Ll}|^_/u.test(target)) return false
  return (
    /^(?:["'[{(\d$-]|true$|false$|null$)/.test(value) ||
    /^[\p{L}_][\p{L}\p{N}_.]*\s*(?:\(|[-+*/%]\s)/u.test(value)
  )
}
