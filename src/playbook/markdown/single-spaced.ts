/** The text with one blank for every run of them: what looks for words then takes time that grows with the length, whoever wrote it. */
export function singleSpaced(text: string): string {
  return /\s\s|[^\S ]/.test(text) ? text.replace(/\s+/g, ' ') : text
}
