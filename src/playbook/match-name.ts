/** Says whether a tool name fits a pattern in which `*` stands for any run of characters; linear in practice, no regular expression. */
export function matchesName(pattern: string, name: string): boolean {
  const parts = pattern.split('*')
  if (parts.length === 1) return pattern === name
  const first = parts[0]!
  const last = parts.at(-1)!
  if (!name.startsWith(first) || !name.endsWith(last) || name.length < first.length + last.length)
    return false
  const end = name.length - last.length
  let from = first.length
  for (const part of parts.slice(1, -1)) {
    const found = name.indexOf(part, from)
    if (found === -1 || found + part.length > end) return false
    from = found + part.length
  }
  return true
}
