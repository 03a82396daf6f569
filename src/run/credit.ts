import type { CompiledStep } from '../playbook/compile-playbook.ts'
import { canonicalJson } from '../shared/canonical-json.ts'
import type { Activation } from './activation.ts'
import type { Ticket } from './ticket.ts'

/** Adds a succeeded call to its step's evidence (G6). */
export function credit(step: CompiledStep, activation: Activation, ticket: Ticket): void {
  if (step.tools.has(ticket.tool) && !activation.succeededTools.includes(ticket.tool)) {
    activation.succeededTools.push(ticket.tool)
  }
  activation.results.push(ticket.result === undefined ? null : ticket.result)
  if (activation.missingKeywords.length === 0 || ticket.result === undefined) return
  const text = typeof ticket.result === 'string' ? ticket.result : canonicalJson(ticket.result)
  const lowered = text.toLowerCase()
  activation.missingKeywords = activation.missingKeywords.filter((keyword) => !hasWord(lowered, keyword))
}

const letter = /[\p{L}\p{N}_]/u

/** Says whether the text has the keyword as a word of its own: `unhealthy` does not say `healthy`. */
function hasWord(text: string, keyword: string): boolean {
  for (let at = text.indexOf(keyword); at !== -1; at = text.indexOf(keyword, at + 1)) {
    const before = text[at - 1] ?? ' '
    const after = text[at + keyword.length] ?? ' '
    const opens = !letter.test(keyword[0]!) || !letter.test(before)
    const closes = !letter.test(keyword.at(-1)!) || !letter.test(after)
    if (opens && closes) return true
  }
  return false
}
