import type { AskedQuestions } from './asked-questions.ts'
import { TextReader } from './text-reader.ts'

/** A piece of a text that a model is writing. */
export interface TextPiece {
  readonly questionId: string
  readonly text: string
  /** What was handed on of this text before is void: it begins anew with this piece. */
  readonly anew: boolean
}

/**
 * Hands the texts of `write` questions on while they come, whichever way the answer is given; an answer that begins anew is marked as
 * such, and what was handed on is in the end what the answer says.
 */
export class TextStream {
  readonly #onPiece: ((piece: TextPiece) => void) | null
  /** What was handed on of each text. */
  readonly #shown = new Map<string, string>()
  /** Texts of which the next piece begins anew. */
  readonly #void = new Set<string>()
  /** Space at the end of each text that is no part of it as long as nothing follows. */
  readonly #held = new Map<string, string>()
  #questions: AskedQuestions | null = null
  #reader: TextReader | null = null

  constructor(onPiece: ((piece: TextPiece) => void) | null) {
    this.#onPiece = onPiece
  }

  /** What receives the answer to these questions as it comes; null where there is nothing to hand on. */
  open(questions: AskedQuestions): ((delta: string) => void) | null {
    this.#questions = questions
    const writes = questions.asked.some(({ question }) => question.kind === 'write')
    return this.#onPiece === null || !writes ? null : (delta) => this.#take(delta)
  }

  /** An answer begins: what came before of the same texts is void. */
  begin(): void {
    const { asked, form } = this.#questions!
    const ids = new Map(
      asked.flatMap(({ key, question }) => (question.kind === 'write' ? [[key, question.id] as const] : [])),
    )
    for (const id of ids.values()) this.#drop(id)
    const [first] = ids.values()
    const handOn = (key: string, text: string) => this.#handOn(ids.get(key) ?? first!, text)
    this.#reader = form === 'text' ? null : new TextReader(new Set(ids.keys()), handOn)
  }

  /** The text is known: hands on what is missing, all of it if it is another one than was shown. */
  settle(questionId: string, text: string): void {
    const shown = this.#void.has(questionId) ? '' : (this.#shown.get(questionId) ?? '')
    if (shown === text) return
    if (!text.startsWith(shown)) this.#drop(questionId)
    this.#held.delete(questionId)
    this.#handOn(questionId, text.startsWith(shown) ? text.slice(shown.length) : text)
  }

  /** What was handed on of a text is void. */
  #drop(questionId: string): void {
    this.#held.delete(questionId)
    if (this.#shown.has(questionId)) this.#void.add(questionId)
  }

  #take(delta: string): void {
    if (this.#reader === null) this.#handOn(this.#questions!.asked[0]!.question.id, delta)
    else this.#reader.take(delta)
  }

  /** Space around a text is no part of it: it is kept back until more comes. */
  #handOn(questionId: string, delta: string): void {
    const before = this.#void.has(questionId) ? '' : (this.#shown.get(questionId) ?? '')
    const all = (this.#held.get(questionId) ?? '') + delta
    const text = (before === '' ? all.trimStart() : all).trimEnd()
    this.#held.set(questionId, text === '' ? all : all.slice(all.trimEnd().length))
    if (text === '') return
    const anew = this.#void.delete(questionId)
    this.#shown.set(questionId, before + text)
    this.#onPiece?.({ questionId, text, anew })
  }
}
