import type { JournalEntry } from '../journal/journal.ts'

interface Letter {
  readonly text: string
  /** Called when the run has written down that it heard it. */
  readonly heard: () => void
}

/** What people said to runs and was not heard yet. */
export class Mailbox {
  readonly #waiting = new Map<string, Letter[]>()
  /** Handed to a run, and not written down by it yet. */
  readonly #handed = new Map<string, Letter[]>()

  /** Leaves a text for a run; resolves when the run has written down that it heard it. */
  put(run: string, text: string): Promise<void> {
    return new Promise((resolve) => push(this.#waiting, run, { text, heard: resolve }))
  }

  /** What the run hears next; null if nobody said anything. */
  next(run: string): string | null {
    const letter = shift(this.#waiting, run)
    if (letter === undefined) return null
    push(this.#handed, run, letter)
    return letter.text
  }

  /** Takes a text back that was not heard; false if it was. */
  take(run: string, text: string): boolean {
    const letters = this.#waiting.get(run) ?? []
    const at = letters.findIndex((letter) => letter.text === text)
    if (at !== -1) letters.splice(at, 1)
    if (letters.length === 0) this.#waiting.delete(run)
    return at !== -1
  }

  /** Takes notice of what a run writes down. */
  heard(run: string, entries: readonly Pick<JournalEntry, 'type'>[]): void {
    for (const { type } of entries) if (type === 'message.received') shift(this.#handed, run)?.heard()
  }
}

function push(box: Map<string, Letter[]>, run: string, letter: Letter): void {
  box.set(run, [...(box.get(run) ?? []), letter])
}

function shift(box: Map<string, Letter[]>, run: string): Letter | undefined {
  const [first, ...rest] = box.get(run) ?? []
  if (rest.length === 0) box.delete(run)
  else box.set(run, rest)
  return first
}
