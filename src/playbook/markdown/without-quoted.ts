/** The text with what stands in quotes blanked out, as long as before. */
export function withoutQuoted(text: string): string {
  return text.includes('"') ? text.replace(/"[^"]*"/g, (part) => '_'.repeat(part.length)) : text
}
