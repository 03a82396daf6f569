import type { ModelMessage, ToolCallRepairFunction, ToolSet } from 'ai'
import { loadSdk } from './load-sdk.ts'
import type { ModelQuestion } from './model-turn.ts'

/** The most characters of unusable arguments that the model is shown again. */
const maxShown = 2_000

/**
 * Asks the model once more for the arguments of a call that are no JSON object. What it then says is used if it is one; if not, the
 * call goes to the gate as it came, which refuses it. A tool that does not exist is not repaired: the gate has the word on that.
 */
export function createRepair(
  question: ModelQuestion,
  tools: ToolSet,
  spent: (promptTokens: number, completionTokens: number) => void,
): ToolCallRepairFunction<ToolSet> {
  return async ({ toolCall, error }) => {
    const { generateText, InvalidToolInputError } = await loadSdk()
    const tool = Object.hasOwn(tools, toolCall.toolName) ? tools[toolCall.toolName] : undefined
    if (tool === undefined || !InvalidToolInputError.isInstance(error)) return null
    const request: ModelMessage = {
      role: 'user',
      content: `[procedure]\nYou called ${toolCall.toolName} with arguments that are no JSON object: ${toolCall.input.slice(0, maxShown)}\nCall it again with the arguments you meant.`,
    }
    const answer = await generateText({
      model: question.model,
      instructions: question.instructions,
      messages: [...question.messages, request],
      tools: { [toolCall.toolName]: tool },
      toolChoice: { type: 'tool', toolName: toolCall.toolName },
      maxRetries: question.maxRetries,
      abortSignal: question.signal,
      ...(question.maxTokens === null ? {} : { maxOutputTokens: question.maxTokens }),
    })
    spent(answer.usage.inputTokens ?? 0, answer.usage.outputTokens ?? 0)
    const again = answer.toolCalls.find((call) => call.toolName === toolCall.toolName)
    return again === undefined || again.invalid === true
      ? null
      : { ...toolCall, input: JSON.stringify(again.input) }
  }
}
