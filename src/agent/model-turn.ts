import type { FinishReason, JSONSchema7, LanguageModel, ModelMessage, TextStreamPart, ToolSet } from 'ai'
import type { Json, JsonObject } from '../shared/json.ts'
import { LockstepError } from '../shared/lockstep-error.ts'
import type { JsonSchema } from '../shared/json-schema.ts'
import { toJson } from '../shared/to-json.ts'
import { loadSdk } from './load-sdk.ts'
import { createRepair } from './repair-call.ts'
import { renameCalls, wireNames, type WireNames } from './wire-name.ts'
import type { OfferedTool } from '../tool/tool.ts'

/** What a model is asked. */
export interface ModelQuestion {
  readonly model: LanguageModel
  readonly instructions: string
  readonly messages: readonly ModelMessage[]
  readonly tools: readonly OfferedTool[]
  /** The names of all tools there are, offered now or not; the history speaks of others than are offered. */
  readonly names: readonly string[]
  readonly maxTokens: number | null
  readonly maxRetries: number
  readonly signal: AbortSignal
  /** Receives the text as it comes; asking for it makes the model stream. */
  readonly onText: ((text: string) => void) | null
}

/** A call that a model proposes. */
export interface ProposedToolCall {
  readonly id: string
  readonly tool: string
  readonly arguments: Json
}

type SdkToolCall = {
  readonly toolCallId: string
  readonly toolName: string
  readonly input: unknown
  readonly providerExecuted?: boolean | undefined
}

interface SdkAnswer {
  readonly text: string
  readonly toolCalls: readonly SdkToolCall[]
  readonly finishReason: FinishReason
  readonly usage: { readonly inputTokens: number | undefined; readonly outputTokens: number | undefined }
  readonly responseMessages: readonly ModelMessage[]
}

/** What a model answered. */
export interface ModelTurn {
  readonly text: string
  readonly calls: readonly ProposedToolCall[]
  /** The answer stopped in the middle, because it is as long as it may be. */
  readonly cut: boolean
  /** The answer as the next question repeats it. */
  readonly message: JsonObject
  readonly promptTokens: number
  readonly completionTokens: number
}

/**
 * Asks a model for its next turn. It proposes calls and executes none: the tools it is told of have no code. Arguments that are no
 * JSON object are asked for once more. Throws what the service threw, and `provider_executed_tool` if it ran a tool by itself.
 */
export async function askModel(question: ModelQuestion): Promise<ModelTurn> {
  const { generateText, streamText, jsonSchema } = await loadSdk()
  const wire = wireNames(question.names, question.model)
  const messages = wire.encodeMessages(question.messages)
  const tools: ToolSet = Object.fromEntries(
    question.tools.map(({ name, description, input }) => [
      wire.encode(name),
      {
        description: wire.encode(name) === name ? description : `${name}: ${description}`,
        inputSchema: jsonSchema(schemaFor(input), { validate: isObject }),
      },
    ]),
  )
  const repairs = { promptTokens: 0, completionTokens: 0 }
  const options = {
    model: question.model,
    instructions: question.instructions,
    messages,
    tools,
    maxRetries: question.maxRetries,
    abortSignal: question.signal,
    repairToolCall: createRepair({ ...question, messages }, tools, (promptTokens, completionTokens) => {
      repairs.promptTokens += promptTokens
      repairs.completionTokens += completionTokens
    }),
    ...(question.maxTokens === null ? {} : { maxOutputTokens: question.maxTokens }),
  }
  const turn =
    question.onText === null
      ? readTurn(await generateText(options), wire)
      : await readStream(
          streamText({ ...options, streamRetries: question.maxRetries, onError: () => undefined }),
          question.onText,
          question.signal,
          wire,
        )
  return {
    ...turn,
    promptTokens: turn.promptTokens + repairs.promptTokens,
    completionTokens: turn.completionTokens + repairs.completionTokens,
  }
}

async function readStream(
  stream: { readonly fullStream: AsyncIterable<TextStreamPart<ToolSet>> } & {
    readonly [Part in keyof SdkAnswer]: PromiseLike<SdkAnswer[Part]>
  },
  onText: (text: string) => void,
  signal: AbortSignal,
  wire: WireNames,
): Promise<ModelTurn> {
  for await (const part of stream.fullStream) {
    if (part.type === 'text-delta') onText(part.text)
    if (part.type === 'error') throw part.error
    if (part.type === 'abort') throw signal.reason
  }
  return readTurn(
    {
      text: await stream.text,
      toolCalls: await stream.toolCalls,
      finishReason: await stream.finishReason,
      usage: await stream.usage,
      responseMessages: await stream.responseMessages,
    },
    wire,
  )
}

/** Ends after which what came so far is not what the model had to say. */
const unusable: ReadonlySet<FinishReason> = new Set<FinishReason>(['content-filter', 'error', 'interrupted'])

function readTurn(result: SdkAnswer, wire: WireNames): ModelTurn {
  const elsewhere =
    result.toolCalls.find((call) => call.providerExecuted === true) ??
    result.responseMessages.flatMap(ranElsewhere)[0]
  if (elsewhere !== undefined) {
    throw new LockstepError(
      'provider_executed_tool',
      `The model's service ran '${elsewhere.toolName}' by itself, around the gate.`,
      { hint: 'Use the model without tools of its own; give the agent a tool that does the same.' },
    )
  }
  if (unusable.has(result.finishReason)) {
    throw new Error(`its service ended the answer before it was whole (${result.finishReason})`)
  }
  return {
    text: result.text,
    // Calls are told apart by their ids, so of two with one id the SDK knows only the first.
    calls: uniqueById(result.toolCalls).map((call) => ({
      id: call.toolCallId,
      tool: wire.decode(call.toolName),
      arguments: asJson(call.input),
    })),
    cut: result.finishReason === 'length',
    message: messageOf(result.text, result.responseMessages, wire),
    promptTokens: result.usage.inputTokens ?? 0,
    completionTokens: result.usage.outputTokens ?? 0,
  }
}

/** Results in the model's own answer: nobody but its service can have made them. */
function ranElsewhere({ role, content }: ModelMessage): { readonly toolName: string }[] {
  if (role !== 'assistant' || typeof content === 'string') return []
  return content.filter((part) => part.type === 'tool-result')
}

function messageOf(text: string, messages: readonly ModelMessage[], wire: WireNames): JsonObject {
  const message = messages.find(({ role }) => role === 'assistant') ?? { role: 'assistant', content: text }
  if (typeof message.content === 'string') return { role: 'assistant', content: message.content }
  const calls = uniqueById(message.content.filter((part) => part.type === 'tool-call'))
  const content = message.content.filter((part) => part.type !== 'tool-call' || calls.includes(part))
  return JSON.parse(
    JSON.stringify(renameCalls({ ...message, content } as ModelMessage, wire.decode)),
  ) as JsonObject
}

function uniqueById<Call extends { readonly toolCallId: string }>(calls: readonly Call[]): Call[] {
  return calls.filter(
    (call, index) => index === calls.findIndex(({ toolCallId }) => toolCallId === call.toolCallId),
  )
}

function asJson(value: unknown): Json {
  const reading = toJson(value ?? String(value))
  return reading.problem === null ? reading.value : String(value)
}

function isObject(value: unknown): { success: true; value: unknown } | { success: false; error: Error } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? { success: true, value }
    : { success: false, error: new TypeError('the arguments are no object') }
}

function schemaFor(input: JsonSchema | null): JSONSchema7 {
  const open: JsonObject = { type: 'object', properties: {}, additionalProperties: true }
  return (typeof input === 'object' && input !== null ? input : open) as JSONSchema7
}
