const keywords = [
  'Else if',
  'If',
  'Otherwise',
  'Else',
  'While',
  'Until',
  'For each',
  'Return',
  'End program',
  'Wait for',
  'Ask user',
  'Tell user',
  'Say',
  'Set',
  'Extract',
] as const

const pattern = new RegExp(`^(?:${keywords.join('|').replaceAll(' ', '[ \\t]+')})(?![\\w(.$])`, 'i')

/** The bullet with the keyword it begins with in its usual letters; a name that only looks like one stays as it is. */
export function canonicalKeyword(bullet: string): string {
  const found = pattern.exec(bullet)?.[0]
  if (found === undefined) return bullet
  const spelled = keywords.find(
    (keyword) => keyword.toLowerCase() === found.replace(/[ \t]+/g, ' ').toLowerCase(),
  )
  return (spelled ?? found) + bullet.slice(found.length)
}
