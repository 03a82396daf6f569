import type { StepContext } from './step-context.ts'
import { wordsOf } from './words.ts'

const negative =
  /\b(?:do\s+not|don't|never|must\s+not|mustn't|should\s+not|shouldn't|may\s+not|(?:you|we)\s+(?:cannot|can't)|avoid|refrain|without\s+(?:calling|using|running)|not\s+allowed|forbidden)\b|^(?:please\s+|then\s+|and\s+)*(?:no|not)\s/i

/** Where a text begins to say what is not to be done; -1 where it does not. */
export function negationIn(text: string): number {
  return text.search(negative)
}

/** The tool or playbook that stands behind a negation; null where none does. */
export function negatedCall(text: string, context: StepContext): string | null {
  const found = negative.exec(text)
  if (found === null) return null
  for (const word of text
    .slice(found.index + found[0].length)
    .match(/[\p{L}_][\p{L}\p{N}_.]*[\p{L}\p{N}_]/gu) ?? []) {
    const named = context.callables.findWords(wordsOf(word), context.agent)
    if (named.kind === 'one' && named.callable.name === word) return word
  }
  return null
}
