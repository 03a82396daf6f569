/** The text, cut to so many characters; what is missing shows as `…`. */
export function cutTo(text: string, width: number): string {
  const characters = [...text]
  return characters.length <= width ? text : `${characters.slice(0, width - 1).join('')}…`
}

/** The text in lines of at most so many characters, broken between words; a word that is longer stands alone. */
export function wrapTo(text: string, width: number): readonly string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(/\s+/).filter((each) => each !== '')) {
    if (line !== '' && [...line].length + 1 + [...word].length > width) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return line === '' && lines.length > 0 ? lines : [...lines, line]
}

/** The text with spaces behind it, up to so many characters. */
export function padTo(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - [...text].length))
}
