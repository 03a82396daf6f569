const emphasis = /^(\*\*|__|\*|_)(.+)\1([.!]?)$/s
const opening = /^(?:(?:please|important|note|rule|warning|attention)\b[:,!]?\s+)+/i
const told = /^(?:you|we)\s+(?:must|should|may|shall)\s+(?=(?:never|not|only|always)\b)/i
const inNoCase =
  /^(?:under\s+no\s+circumstances?|in\s+no\s+case|on\s+no\s+account|at\s+no\s+time|not)\s*,?\s+(?:(?:should|do|must)\s+you\s+)?(?=(?:call|run|use|execute)\b)/i
const refrain = /^(?:refrain\s+from|avoid)\s+(?:calling|running|using|executing)\s+/i
const conditionFirst =
  /^(?:if|when|whenever)\s+([^,]+),\s*(?:then\s+)?(?:please\s+)?(?:you\s+must\s+)?((?:never|do\s+not|don't|dont)\s+(?:call|run|use|execute)\s+[^\s,;.]+)[.!]?$/i
const bare = /^(?:never|do\s+not|don't)\s+([\p{L}_][\p{L}\p{N}_]*)[.!]?$/iu

/** A note in the words in which rules are read, where it plainly says one in others; the text itself where it does not. */
export function plainRule(text: string, isTool: (name: string) => boolean): string {
  let plain = text.trim()
  const strong = emphasis.exec(plain)
  if (strong !== null) plain = `${strong[2]!}${strong[3]!}`
  plain = plain
    .replace(opening, '')
    .replace(told, '')
    .replace(inNoCase, 'Never ')
    .replace(refrain, 'Never call ')
    .replace(/^dont\b/i, "Don't")
    .replace(/^never\s+ever\b/i, 'Never')
  const turned = conditionFirst.exec(plain)
  if (turned !== null) plain = `${turned[2]!.replace(/^dont\b/i, "Don't")} if ${turned[1]!}`
  if (/^(?:never|do\s+not|don't)\s+(?:call|run|use|execute)\s+\S+\s+where\s/i.test(plain))
    plain = plain.replace(/\swhere\s/i, ' if ')
  const name = bare.exec(plain)?.[1]
  return name !== undefined && isTool(name) ? `Never call ${name}` : plain
}
