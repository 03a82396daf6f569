import type { ExportManifest } from '../journal/chain-export.ts'
import type { ReadEntry } from '../journal/read-export.ts'
import type { Finding, FindingKind } from './verdict.ts'

/** The SHA-256 of a text in UTF-8, as `sha256:` and 64 hexadecimal digits. */
export type Hash = (text: string) => string

/**
 * Checks that the entries of a chain are those that were written, all of them up to the last, in their order. Names the first place of
 * each kind of damage.
 */
export function checkChain(
  chain: string,
  entries: readonly ReadEntry[],
  stated: ExportManifest['chains'][number] | undefined,
  hash: Hash,
): readonly Finding[] {
  const order = checkOrder(chain, entries)
  const findings = [...order]
  // Behind a gap or out of order every link would be wrong: the place of the damage is known already.
  findings.push(...checkLinks(chain, entries, hash, order.length === 0))
  const last = entries.at(-1)
  if (stated === undefined) {
    findings.push(finding('edit', chain, null, 'the manifest does not name this chain'))
  } else if (order.length === 0 && entries.length < stated.entries) {
    const message = `the manifest states ${stated.entries} entries, and the export ends after ${entries.length}`
    findings.push(finding('truncation', chain, entries.length + 1, message))
  } else if (order.length === 0 && findings.length === 0 && stated.hash !== (last?.hash ?? null)) {
    findings.push(finding('edit', chain, entries.length, 'the last entry is not the one the manifest states'))
  }
  return findings
}

function checkOrder(chain: string, entries: readonly ReadEntry[]): Finding[] {
  if (entries.every(({ link }, index) => link.seq === index + 1)) return []
  const numbers = entries.map(({ link }) => link.seq)
  const present = new Set(numbers)
  const misplaced = numbers.findIndex((seq, index) => seq !== index + 1)
  let gap = 1
  while (present.has(gap)) gap++
  const highest = numbers.reduce((most, seq) => Math.max(most, seq), 0)
  if (gap < highest) {
    let end = gap
    while (!present.has(end + 1) && end + 1 < highest) end++
    const what = end === gap ? `entry ${gap} is missing` : `entries ${gap} to ${end} are missing`
    return [finding('deletion', chain, gap, what)]
  }
  const seq = numbers[misplaced]!
  return [finding('reordering', chain, seq, `entry ${seq} stands in the place of entry ${misplaced + 1}`)]
}

function checkLinks(chain: string, entries: readonly ReadEntry[], hash: Hash, inOrder: boolean): Finding[] {
  let prev: string | null = null
  for (const entry of entries) {
    const problem = entryProblem(entry, hash)
    const { seq } = entry.link
    if (problem !== null) return [finding('edit', chain, seq, problem)]
    if (inOrder && entry.hash !== null && entry.link.prev !== prev) {
      const message =
        seq === 1
          ? 'the first entry names one before it'
          : `it does not follow on entry ${seq - 1}: one of the two was changed`
      return [finding('edit', chain, seq, message)]
    }
    prev = entry.hash
  }
  return []
}

function entryProblem(entry: ReadEntry, hash: Hash): string | null {
  const { link, hash: stated } = entry
  if (stated === null) return null
  if (hash(entry.linkText) !== stated && hash(entry.canonical()?.linkText ?? '') !== stated)
    return 'the entry was changed: its hash is another'
  if (entry.salted === null || hash(entry.salted) === link.payload) return null
  const same = hash(entry.canonical()?.salted ?? '') === link.payload
  return same ? null : 'its payload was changed: the digest is another'
}

function finding(kind: FindingKind, chain: string, seq: number | null, message: string): Finding {
  return { kind, chain, seq, message }
}
