const articles: ReadonlySet<string> = new Set([
  'the',
  'a',
  'an',
  'their',
  'his',
  'her',
  'its',
  'your',
  'our',
  'this',
  'that',
])

/** The words of a name or a phrase in small letters, without articles: `ValidateEmail`, `validate_email` and `Validate the email` are alike. */
export function wordsOf(text: string): string[] {
  const spaced = text
    .replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, '$1 $2')
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
    .toLowerCase()
  return (spaced.match(/[\p{L}\p{N}]+/gu) ?? []).filter((word) => !articles.has(word))
}

/** The words as one key. */
export function wordKey(text: string): string {
  return wordsOf(text).join(' ')
}

/** An ASCII name made of the words of a heading: as written where it is one word, else in CamelCase. */
export function idFromName(name: string): string {
  const plain = name.normalize('NFKD').replace(/[\u0300-\u036f]/g, '')
  if (/^[A-Za-z_][A-Za-z0-9_]*$/.test(plain)) return plain
  const parts = plain.match(/[A-Za-z0-9_]+/g) ?? []
  const id = parts.map((part) => part[0]!.toUpperCase() + part.slice(1)).join('')
  return /^[A-Za-z_]/.test(id) ? id : id === '' ? '' : `P${id}`
}
