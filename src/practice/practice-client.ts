import { isJsonObject, type Json, type JsonObject } from '../shared/json.ts'
import { messageOf } from '../shared/message-of.ts'
import { ToolFailure } from '../tool/tool-failure.ts'

/** Where the service is; it is started when that is asked for first. */
export type PracticeAddress = () => Promise<string>

/** Reads from the practice service, and cannot do anything else. */
export interface PracticeReader {
  /** What is there. Throws ToolFailure where the service says no, Error where it says nothing. */
  get(path: string, signal: AbortSignal): Promise<JsonObject>
  /** What was done under a key: what was answered then, `in_progress`, or null for nothing. */
  lookUp(key: string, signal: AbortSignal): Promise<JsonObject | 'in_progress' | null>
}

/** Asks the practice service to do something. */
export interface PracticeWriter {
  /** Does it once under the key. Throws ToolFailure where nothing was done, Error where nobody knows. */
  post(path: string, body: JsonObject, key: string, signal: AbortSignal): Promise<JsonObject>
}

/** Errors before anything was sent. */
const unsent: ReadonlySet<unknown> = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN'])

/** A client that only reads: it has no way to write. */
export function createPracticeReader(address: PracticeAddress): PracticeReader {
  const get = async (path: string, signal: AbortSignal) =>
    await send(address, path, { method: 'GET', signal })
  return {
    get: async (path, signal) => accept(await get(path, signal)),
    async lookUp(key, signal) {
      const answer = await get(`/keys/${encodeURIComponent(key)}`, signal)
      if (answer.status === 404 && answer.body['state'] === 'none') return null
      const { state, answer: kept } = accept(answer)
      if (state === 'applied' && isJsonObject(kept as Json)) return kept as JsonObject
      if (state === 'in_progress') return state
      throw new Error('the practice service did not say what became of the call')
    },
  }
}

/** A client that writes. */
export function createPracticeWriter(address: PracticeAddress): PracticeWriter {
  return {
    post: async (path, body, key, signal) =>
      accept(
        await send(address, path, {
          method: 'POST',
          signal,
          headers: { 'content-type': 'application/json', 'idempotency-key': key },
          body: JSON.stringify(body),
        }),
      ),
  }
}

interface Answer {
  readonly status: number
  readonly body: JsonObject
}

async function send(address: PracticeAddress, path: string, request: RequestInit): Promise<Answer> {
  const url = await address().catch((error: unknown) => {
    throw new ToolFailure(messageOf(error), { cause: error })
  })
  try {
    const response = await fetch(url + path, request)
    const body = (await response.json()) as Json
    return { status: response.status, body: isJsonObject(body) ? body : {} }
  } catch (error) {
    const { cause } = error as { cause?: { code?: unknown; message?: unknown } }
    const message = `the practice service did not answer: ${String(cause?.code ?? cause?.message ?? messageOf(error))}`
    throw unsent.has(cause?.code) || cause?.message === 'bad port'
      ? new ToolFailure(message)
      : new Error(message, { cause: error })
  }
}

/** What was answered. A refusal states that nothing was done; an error of the service does not. */
function accept({ status, body }: Answer): JsonObject {
  if (status >= 200 && status < 300) return body
  const message = `the practice service answered ${status}: ${String(body['error'] ?? '')}`
  throw status >= 400 && status < 500 ? new ToolFailure(message) : new Error(message)
}
