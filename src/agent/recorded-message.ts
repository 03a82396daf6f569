import type {
  LanguageModelV4Content,
  LanguageModelV4File,
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4ReasoningFile,
} from '@ai-sdk/provider'
import type { Json, JsonObject } from '../shared/json.ts'

/** A message of the conversation as the record keeps it: JSON, in the shape of the AI SDK's `ModelMessage`. */
export interface RecordedMessage {
  readonly role: string
  readonly content: string | readonly JsonObject[]
}

/** The model's answer as the record keeps it; `inputs` holds what its calls were understood to say, by their ids. */
export function recordMessage(
  content: readonly LanguageModelV4Content[],
  text: string,
  inputs: ReadonlyMap<string, Json>,
  decode: (name: string) => string,
): JsonObject {
  const seen = new Set<string>()
  const parts: JsonObject[] = []
  for (const part of content) {
    switch (part.type) {
      case 'text':
        if (part.text !== '' || part.providerMetadata !== undefined)
          parts.push({ type: 'text', text: part.text, ...options(part) })
        break
      case 'reasoning':
        parts.push({ type: 'reasoning', text: part.text, ...options(part) })
        break
      case 'custom':
        parts.push({ type: 'custom', kind: part.kind, ...options(part) })
        break
      case 'file':
      case 'reasoning-file':
        parts.push({ type: part.type, mediaType: part.mediaType, data: fileText(part), ...options(part) })
        break
      case 'tool-call': {
        // Calls are told apart by their ids, so of two with one id only the first is known.
        if (seen.has(part.toolCallId)) break
        seen.add(part.toolCallId)
        const { toolCallId } = part
        const input = inputs.get(toolCallId) ?? {}
        const toolName = decode(part.toolName)
        parts.push({ type: 'tool-call', toolCallId, toolName, input, ...options(part) })
        break
      }
      case 'source':
      case 'tool-result':
      case 'tool-approval-request':
        break
    }
  }
  return { role: 'assistant', content: parts.length === 0 ? text : parts }
}

/** The message as a service is told it, its tools by the names that the service knows. */
export function promptMessage(
  { role, content }: RecordedMessage,
  encode: (name: string) => string,
): LanguageModelV4Message {
  const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : content
  const told = parts.map((part) => {
    if (typeof part['toolName'] === 'string') return { ...part, toolName: encode(part['toolName']) }
    return typeof part['data'] === 'string' ? { ...part, data: fileData(part['data']) } : part
  })
  // The record holds only messages that were made here or came from a service, so they have the shape of one.
  return { role, content: told } as unknown as LanguageModelV4Message
}

function options(part: { readonly providerMetadata?: unknown }): { readonly providerOptions?: JsonObject } {
  if (part.providerMetadata === undefined) return {}
  // A service's own notes: whatever they are made of, the record keeps JSON.
  return { providerOptions: JSON.parse(JSON.stringify(part.providerMetadata)) as JsonObject }
}

function fileText({ data }: LanguageModelV4File | LanguageModelV4ReasoningFile): string {
  if (data.type === 'url') return String(data.url)
  return typeof data.data === 'string' ? data.data : Buffer.from(data.data).toString('base64')
}

function fileData(text: string): LanguageModelV4FilePart['data'] {
  return /^https?:\/\//.test(text) ? { type: 'url', url: new URL(text) } : { type: 'data', data: text }
}
