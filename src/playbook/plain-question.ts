/** Words that turn a question round, or leave more to choose from than yes and no. */
const turning = new RegExp(
  `(?:^|[^\\p{L}])(?:${[
    'not|never|no|none|nobody|nothing|neither|nor|without|avoid|unless|except|instead|rather|or|mind|wrong|incorrect',
    'nicht|nie|niemals|kein\\p{L}*|ohne|oder|pas|jamais|sans|ou|nunca|sin|ni|non|senza|mai',
  ].join('|')})(?=[^\\p{L}]|$)|n['’]t(?=[^\\p{L}]|$)`,
  'iu',
)

/**
 * Whether a plain yes to the question can only mean that what it asks for is so: it is one question, and nothing in it turns it
 * round. Placeholders of a template are passed over.
 */
export function isPlainQuestion(text: string): boolean {
  const words = text
    .replace(/\{[^{}]*\}/g, ' ')
    // Whoever says how to answer asks the same.
    .replace(/[([]?\b(?:yes or no|yes ?\/ ?no|y ?\/ ?n)\b\??[)\]]?\s*$/i, '')
    .trim()
  return words.length > 1 && words.indexOf('?') === words.length - 1 && !turning.test(words)
}
