/**
 * One turn of a model, asked through the interface that the providers of the AI SDK implement.
 *
 * Owns: the way from a question to what the model proposes. It is asked directly and not through the SDK's own loop, which costs more
 * than everything Lockstep does in a turn, and has tools run where no gate stands.
 *
 * Invariants
 * T1  Nothing is executed here. A tool that the service ran by itself fails the turn.
 * T2  A passing fault of the service is asked away; an answer that did not come whole is no answer.
 * T3  Arguments that are no JSON object are asked for once more; then they go to the gate as they came, which refuses them.
 * T4  A turn has a limited number of calls; the model is told that the others were not made.
 */
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4FinishReason,
  LanguageModelV4ToolCall,
} from '@ai-sdk/provider'
import { isJsonObject, type Json, type JsonObject } from '../shared/json.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import { callOptions, readArguments, type ModelQuestion } from './model-question.ts'
import { readStream, type WholeAnswer } from './read-stream.ts'
import { recordMessage } from './recorded-message.ts'
import { repairCall } from './repair-call.ts'
import { addUsage, readUsage, type TokenUsage } from './token-usage.ts'
import { isPassing, withRetries } from './with-retries.ts'

/** A call that a model proposes. */
export interface ProposedToolCall {
  readonly id: string
  readonly tool: string
  readonly arguments: Json
}

/** What a model answered. */
export interface ModelTurn extends TokenUsage {
  readonly text: string
  readonly calls: readonly ProposedToolCall[]
  /** The answer stopped in the middle, because it is as long as it may be. */
  readonly cut: boolean
  /** The answer as the next question repeats it. */
  readonly message: JsonObject
  /** How many calls beyond those that a turn may have were left out; absent for none. */
  readonly dropped?: number
}

/** Asks a model for its next turn (T1–T3). Throws what the service threw, and `provider_executed_tool` if it ran a tool by itself. */
export async function askModel(question: ModelQuestion): Promise<ModelTurn> {
  const answer = await askService(question, callOptions(question))
  refuseUnusable(answer)
  question.onUsage?.(answer.used)
  let usage = answer.used
  const { content, dropped } = firstCalls(answer.content)
  const calls: ProposedToolCall[] = []
  const inputs = new Map<string, Json>()
  let text = ''
  for (const part of content) {
    if (part.type === 'text') text += part.text
    if (part.type !== 'tool-call' || inputs.has(part.toolCallId)) continue
    let args = readArguments(part.input)
    if (!isJsonObject(args)) {
      const repaired = await repairCall(question, part)
      usage = addUsage(usage, repaired.usage)
      args = repaired.arguments ?? args
    }
    inputs.set(part.toolCallId, isJsonObject(args) ? args : {})
    calls.push({ id: part.toolCallId, tool: question.decode(part.toolName), arguments: args })
  }
  return {
    text,
    calls,
    cut: answer.finishReason.unified === 'length',
    message: recordMessage(content, text, inputs, question.decode),
    ...usage,
    ...(dropped === 0 ? {} : { dropped }),
  }
}

/** The most calls of one turn. Each is judged and written down; who asks for more has lost its way. */
export const maxCalls = 128

/** An answer without the calls beyond those that a turn may have (T4). */
function firstCalls(content: readonly LanguageModelV4Content[]): {
  readonly content: readonly LanguageModelV4Content[]
  readonly dropped: number
} {
  let count = 0
  const kept = content.filter((part) => part.type !== 'tool-call' || ++count <= maxCalls)
  return { content: kept, dropped: Math.max(0, count - maxCalls) }
}

/** An answer, and what it took. */
export type Answered = WholeAnswer & { readonly used: TokenUsage }

/** What is needed to ask a service, whatever the question. */
type Asking = Pick<ModelQuestion, 'maxRetries' | 'signal' | 'onText'> & {
  readonly model: Pick<LanguageModelV4, 'doGenerate' | 'doStream'>
}

/** Asks a service until it answers (T2), as a stream where somebody wants the text as it comes. Throws what the service threw. */
export async function askService(question: Asking, options: LanguageModelV4CallOptions): Promise<Answered> {
  const answer = await askWhole(question, options)
  return { ...answer, used: readUsage(answer.usage, options, answer.content) }
}

async function askWhole(question: Asking, options: LanguageModelV4CallOptions): Promise<WholeAnswer> {
  const { model, onText, signal } = question
  if (onText === null) return await withRetries(question, () => model.doGenerate(options))
  let begun = false
  return await withRetries(
    question,
    async () => {
      begun = false
      const { stream } = await model.doStream(options)
      begun = true
      return await readStream(stream, onText, signal)
    },
    // What breaks in the middle of an answer says seldom whether it would break again.
    (error) =>
      isPassing(error) || (begun && (error as { isRetryable?: unknown } | null)?.isRetryable !== false),
  )
}

/** Ends after which what came so far is not what the model had to say. */
const unusable: ReadonlySet<string> = new Set<LanguageModelV4FinishReason['unified']>([
  'content-filter',
  'error',
  'interrupted',
])

/** Throws if the service ran a tool by itself (T1), or ended the answer before it was whole (T2). */
export function refuseUnusable({ content, finishReason }: WholeAnswer): void {
  for (const part of content) {
    // Results in the model's own answer: nobody but its service can have made them.
    const elsewhere = part.type === 'tool-call' ? part.providerExecuted === true : part.type === 'tool-result'
    if (!elsewhere) continue
    throw new LockstepError(
      'provider_executed_tool',
      `The model's service ran '${(part as LanguageModelV4ToolCall).toolName}' by itself, around the gate.`,
      { hint: 'Use the model without tools of its own; give the agent a tool that does the same.' },
    )
  }
  if (unusable.has(finishReason.unified)) {
    throw new Error(`its service ended the answer before it was whole (${finishReason.unified})`)
  }
}
