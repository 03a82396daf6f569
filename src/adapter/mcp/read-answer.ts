import type { CallToolResult } from '@modelcontextprotocol/client'
import type { Json } from '../../shared/json.ts'
import { toJson } from '../../shared/to-json.ts'

/**
 * What a tool said, as a condition can ask about it: its structured content, else JSON that its text holds, else its text; what
 * is neither is kept as the list of parts it is.
 */
export function readAnswer(answer: CallToolResult): Json {
  if (answer.structuredContent !== undefined) return asJson(answer.structuredContent)
  const [first, ...more] = answer.content
  if (first === undefined) return null
  if (first.type !== 'text' || more.length > 0) return asJson({ content: answer.content })
  return /^\s*[[{]/.test(first.text) ? parsed(first.text) : first.text
}

/** What a tool said went wrong, for people. */
export function readComplaint(answer: CallToolResult): string {
  const texts = answer.content.flatMap((part) => (part.type === 'text' ? [part.text] : []))
  return texts.join('\n') || 'it gave no reason'
}

function parsed(text: string): Json {
  try {
    return asJson(JSON.parse(text) as unknown)
  } catch {
    return text
  }
}

function asJson(value: unknown): Json {
  const reading = toJson(value)
  return reading.problem === null ? reading.value : `[answer not kept: ${reading.problem}]`
}
