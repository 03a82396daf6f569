const note = /… \[\d+ more characters are left out\]$/

/** A text of at most so many characters that can be written down; where it was longer it says how much is left out. Cutting twice is cutting once. */
export function cutText(text: string, longest: number): string {
  if (text.length <= longest || text.search(note) === longest) return text.toWellFormed()
  const kept = text.slice(0, longest).toWellFormed()
  return `${kept}… [${text.length - longest} more characters are left out]`
}
