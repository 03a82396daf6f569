/** A variable's name in words: `order_id` and `orderId` are "order id". One that says nothing by itself stays as it is. */
export function phraseName(name: string): string {
  if (name === '_' || name === '__') return 'last result'
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll('_', ' ')
    .trim()
    .toLowerCase()
  return words === '' ? name : words
}

/** A variable in a sentence: "the order id"; a letter or two stay what they are. */
export function phraseVariable(name: string): string {
  const words = phraseName(name)
  return words.length <= 2 ? words : `the ${words}`
}

/** Several in a row: "a", "a and b", "a, b and c". */
export function phraseList(parts: readonly string[], word: 'and' | 'or' = 'and'): string {
  if (parts.length <= 1) return parts.join('')
  return `${parts.slice(0, -1).join(', ')} ${word} ${parts.at(-1)}`
}

/** A number of things: "1 step", "3 steps". */
export function phraseCount(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

/** A stretch of time: "90 seconds", "5 minutes", "2 hours". */
export function phraseSeconds(seconds: number): string {
  for (const [length, noun] of [
    [86_400, 'day'],
    [3_600, 'hour'],
    [60, 'minute'],
  ] as const) {
    if (seconds >= length && seconds % length === 0) return phraseCount(seconds / length, noun)
  }
  return phraseCount(seconds, 'second')
}

/** A text as a sentence: it begins with a capital letter and ends with a full stop, unless it ends with a mark already. */
export function phraseSentence(text: string): string {
  const trimmed = text.trim().replace(/\s+/g, ' ')
  const sentence = trimmed.charAt(0).toUpperCase() + trimmed.slice(1)
  return /[.!?:…]["')]?$/.test(sentence) || sentence === '' ? sentence : `${sentence}.`
}
