import type { JsonObject } from '../shared/json.ts'
import type { PracticeStore } from './practice-store.ts'

/** What a request names: the parts of its path, and its body. */
export interface PracticeRequest {
  readonly names: Readonly<Record<string, string>>
  readonly body: JsonObject
}

/** What a request that writes did. */
export interface PracticeDeed {
  readonly target: string
  /** False where all was as asked for already. */
  readonly changed: boolean
  readonly body: JsonObject
}

/** A path of the service, such as `/nodes/{node}/cordon`, and the tool that asks for it. */
export type PracticeRoute = { readonly path: string; readonly tool: string } & (
  | { readonly method: 'GET'; read(store: PracticeStore, request: PracticeRequest): JsonObject }
  | { readonly method: 'POST'; write(store: PracticeStore, request: PracticeRequest): PracticeDeed }
)

/** Thrown where a request is refused; nothing was changed. */
export class PracticeRefusal extends Error {
  readonly status: number

  constructor(status: 400 | 404 | 409 | 422, message: string) {
    super(message)
    this.status = status
  }
}

/** A text of the body. Throws PracticeRefusal if it is none, or empty. */
export function textOf(body: JsonObject, name: string): string {
  const value = body[name]
  if (typeof value === 'string' && value !== '' && value.length <= 1000) return value
  throw new PracticeRefusal(422, `'${name}' must be a text of 1 to 1000 characters`)
}
