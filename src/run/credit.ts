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
  activation.missingKeywords = activation.missingKeywords.filter((keyword) => !lowered.includes(keyword))
}
