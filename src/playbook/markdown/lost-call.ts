import type { Bullet } from './bullet.ts'
import { joinSpokenNames } from './spoken-name.ts'
import { wordsOf } from './words.ts'
import { type StepContext, reportAt } from './step-context.ts'

const callSyntax = /([\p{L}_][\p{L}\p{N}_]*)\(/gu

/** Reports a call in function syntax that stands among words, where nobody would make it; says whether it did. */
export function lostCall(bullet: Bullet, context: StepContext): boolean {
  const found = callAmong(bullet.text, context)
  if (found === null) return false
  reportAt(bullet, found.start, found.start + found.name.length, context).error(
    'misplaced_call',
    `\`${found.name}(…)\` stands among words, so it would not be made`,
    'make it a step of its own',
  )
  return true
}

/** A call among words, outside quotes; null where there is none. Placeholders in words that a model writes are not filled in. */
export function callAmong(text: string, context: StepContext): { name: string; start: number } | null {
  if (!text.includes('(')) return null
  const unquoted = text.replace(/"[^"]*"|“[^”]*”/g, (part) => ` ${'_'.repeat(part.length - 2)} `)
  const bare = joinSpokenNames(unquoted, context.callables, context.agent)
  for (const { 1: name, index } of bare.matchAll(callSyntax)) {
    if (context.callables.findWords(wordsOf(name!), context.agent).kind !== 'none')
      return { name: text.slice(index, index + name!.length), start: index }
  }
  return null
}
