import type { LanguageModelV4ToolCall } from '@ai-sdk/provider'
import { isJsonObject, type JsonObject } from '../shared/json.ts'
import { callOptions, readArguments, type ModelQuestion } from './model-question.ts'
import { noUsage, readUsage, type TokenUsage } from './token-usage.ts'
import { withRetries } from './with-retries.ts'

/** The most characters of unusable arguments that the model is shown again. */
const maxShown = 2_000

/** What asking once more led to: arguments, or none, and what it took. */
export interface Repair {
  readonly arguments: JsonObject | null
  readonly usage: TokenUsage
}

const nothing: Repair = { arguments: null, usage: noUsage }

/**
 * Asks the model once more for the arguments of a call that are no JSON object. What it then says is used if it is one; if not, the
 * call goes to the gate as it came, which refuses it. A tool that was not offered is not repaired: the gate has the word on that.
 */
export async function repairCall(
  question: ModelQuestion,
  { toolName, input }: LanguageModelV4ToolCall,
): Promise<Repair> {
  const tool = question.tools.find(({ name }) => name === toolName)
  if (tool === undefined) return nothing
  const text = `[procedure]\nYou called ${toolName} with arguments that are no JSON object: ${input.slice(0, maxShown)}\nCall it again with the arguments you meant.`
  const prompt = [...question.prompt, { role: 'user' as const, content: [{ type: 'text' as const, text }] }]
  const options = {
    ...callOptions({ ...question, prompt, tools: [tool] }),
    toolChoice: { type: 'tool' as const, toolName },
  }
  try {
    const { content, usage } = await withRetries(question, () => question.model.doGenerate(options))
    const again = content.find((part) => part.type === 'tool-call' && part.toolName === toolName)
    const args = again?.type === 'tool-call' ? readArguments(again.input) : null
    return { arguments: isJsonObject(args) ? args : null, usage: readUsage(usage, options, content) }
  } catch {
    question.signal.throwIfAborted()
    // That the arguments are unusable is known; the run need not end because the service could not be asked about them.
    return nothing
  }
}
