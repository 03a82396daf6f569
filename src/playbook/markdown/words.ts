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
  const words = isAscii(text) ? asciiWords(text) : anyWords(text)
  // Most names have no article in them.
  return words.some(isArticle) ? words.filter((word) => !articles.has(word)) : words
}

/** The first of the words of a text, where the text begins with one, or with a `$` before one. */
export function openingWord(text: string): string | undefined {
  let end = 0
  while (isLower(text.charCodeAt(end)) || (end === 0 && isUpper(text.charCodeAt(end)))) end++
  // Most texts begin with a plain word and a blank.
  const plain = end > 0 && text.charCodeAt(end) === 32 ? text.slice(0, end).toLowerCase() : ''
  if (plain !== '' && !articles.has(plain)) return plain
  // An article before a name does not count.
  const found = /^(?:(?:the|an?|their|his|her|its|your|our|this|that)\s+)?\$?([\p{L}\p{N}]+)/iu.exec(text)
  return found === null ? undefined : wordsOf(found[1]!)[0]
}

function isArticle(word: string): boolean {
  return word.length <= 5 && articles.has(word)
}

function anyWords(text: string): string[] {
  const spaced = text
    .replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, '$1 $2')
    .replace(/(\p{Lu})(\p{Lu}\p{Ll})/gu, '$1 $2')
    .toLowerCase()
  return spaced.match(/[\p{L}\p{N}]+/gu) ?? []
}

/** The same for the letters of nearly every text, where no expression is needed to tell them apart. */
function asciiWords(text: string): string[] {
  const words: string[] = []
  const lower = text.toLowerCase()
  let from = -1
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (!isLower(code) && !isUpper(code) && !isDigit(code)) {
      if (from !== -1) words.push(lower.slice(from, at))
      from = -1
    } else if (from === -1) from = at
    else if (isUpper(code) && (!isUpper(text.charCodeAt(at - 1)) || isLower(text.charCodeAt(at + 1)))) {
      words.push(lower.slice(from, at))
      from = at
    }
  }
  if (from !== -1) words.push(lower.slice(from))
  return words
}

function isAscii(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 127) return false
  return true
}

function isLower(code: number): boolean {
  return code >= 97 && code <= 122
}

function isUpper(code: number): boolean {
  return code >= 65 && code <= 90
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57
}

/** The words as one key. */
export function wordKey(text: string): string {
  if (isPlainWord(text)) {
    const word = text.toLowerCase()
    return articles.has(word) ? '' : word
  }
  return wordsOf(text).join(' ')
}

/** Small letters, the first perhaps a large one: a single word, which needs no cutting. */
function isPlainWord(text: string): boolean {
  const first = text.charCodeAt(0)
  if (!isLower(first) && !isUpper(first)) return false
  for (let at = 1; at < text.length; at++) if (!isLower(text.charCodeAt(at))) return false
  return true
}

/** An ASCII name made of the words of a heading: as written where it is one word, else in CamelCase. */
export function idFromName(name: string): string {
  const plain = isAscii(name) ? name : name.normalize('NFKD').replace(/[\u0300-\u036f]/g, '')
  if (/^[A-Za-z_][A-Za-z0-9_]*$/.test(plain)) return plain
  const parts = plain.match(/[A-Za-z0-9_]+/g) ?? []
  const id = parts.map((part) => part[0]!.toUpperCase() + part.slice(1)).join('')
  return /^[A-Za-z_]/.test(id) ? id : id === '' ? '' : `P${id}`
}
