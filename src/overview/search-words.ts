const mostWords = 100

/** The words of a text, each once, as they are looked for: letters and digits, in small letters. */
export function searchWords(text: string): readonly string[] {
  const words =
    text
      .toLowerCase()
      .normalize('NFC')
      .match(/[\p{L}\p{N}]+/gu) ?? []
  return [...new Set(words)].slice(0, mostWords)
}

/** The word under which a tenant's runs are found; a tenant's name may hold anything. */
export function tenantWord(tenant: string): string {
  return `t${Buffer.from(tenant, 'utf8').toString('hex')}`
}

/** What finds the runs of a tenant in which words begin so; null where nothing is asked for. */
export function matchWords(tenant: string, search: string): string | null {
  const words = searchWords(search).slice(0, 8)
  if (words.length === 0) return null
  return [`tenant : "${tenantWord(tenant)}"`, ...words.map((word) => `words : "${word}" *`)].join(' AND ')
}
