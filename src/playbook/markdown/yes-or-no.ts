import { partner } from './confirm-form.ts'

const quotation = /["“]([^"“”]*)["”]\s*[.!]?$/u
const open =
  /^(?:(?:and|so|but|okay|ok|now|well|please|hi|hello|thanks)[,\s]+)*(?:\p{L}+\s+){0,2}?(?:what|which|who|whom|whose|where|when|why|how)(?:\b|')/iu
const closed =
  /^(?:do|does|did|is|are|was|were|will|would|can|could|may|might|shall|should|have|has|had|am)\b/i
const agreement = /\b(?:confirm|yes|agree|approv\p{L}*|consent|permission|go[\s-]?ahead|ok(?:ay)?)\b/iu
/** A wish to be told something, which nobody answers with no. */
const wish =
  /^(?:(?:may|can|could)\s+(?:i|we)\s+(?:please\s+)?(?:have|know|ask|get|see|help)|(?:can|could|will|would)\s+you\s+(?:please\s+)?(?:tell|give|send|provide|share|describe|explain|spell|repeat))\b/i
const asksWhether = new RegExp(
  String.raw`\b(?:ask|prompt|request)\s+(?:(?:for\s+)?${partner}\s+)?(?:if|whether)\b`,
  'i',
)
const asksTo = new RegExp(
  String.raw`\b(?:ask|prompt|request)\s+(?:${partner}\s+)?to\s+(?!provide|enter|give|describe|tell|share|send|state|name|list|spell|explain|upload|wait|hold|be|specify|write|say\s+(?:what|which|who|where|when|why|how|more))`,
  'i',
)
const asksFor =
  /\b(?:ask|prompt|request|wait)\b.*\b(?:confirm|confirmation|consent|approval|permission|agreement|agree[sd]?|go[\s-]?ahead|acceptance|authori[sz]ation|ok|okay|yes)\b/i

/** Whether a bullet asks a person for a yes or a no. */
export function asksYesOrNo(text: string): boolean {
  const quoted = quotation.exec(text)?.[1]
  if (quoted === undefined) return asksWhether.test(text) || asksTo.test(text) || asksFor.test(text)
  const said = quoted.trim()
  if (!said.endsWith('?')) return agreement.test(said)
  const last = said
    .slice(0, -1)
    .split(/[.!?:]\s+/)
    .at(-1)!
  if (wish.test(last)) return agreement.test(last)
  return closed.test(last) || !open.test(last)
}
