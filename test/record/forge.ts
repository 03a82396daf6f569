import { hash } from 'node:crypto'
import { isTenantChain, writeLink, type ChainLink } from '../../src/journal/chain.ts'
import type { ExportManifest } from '../../src/journal/chain-export.ts'
import { canonicalJson } from '../../src/shared/canonical-json.ts'
import type { JsonObject } from '../../src/shared/json.ts'

/** A line of an export, taken apart. */
export interface Line {
  readonly link: ChainLink
  readonly hash: string
  readonly mac: string
  readonly key: string
  readonly salt: string
  readonly data: JsonObject
}

const sha = (text: string) => `sha256:${hash('sha256', text)}`

/** The lines of one run, taken apart. */
export function linesOf(lines: readonly string[], run: string): Line[] {
  return lines
    .slice(1)
    .map((line) => JSON.parse(line) as Line)
    .filter(({ link }) => link.run === run)
}

/**
 * Changes the entries of a run and makes everything fit again: the chain, what the tenant's chain says of it, the manifest; as somebody who
 * knows the format would who has no keys. The signed checkpoints are left out, because they would tell.
 */
export function forge(
  lines: readonly string[],
  run: string,
  change: (entries: Line[]) => readonly Line[],
  documents?: (documents: ExportManifest['documents']) => ExportManifest['documents'],
): string[] {
  const manifest = JSON.parse(lines[0]!) as ExportManifest
  const all = new Map(manifest.chains.map(({ chain }) => [chain, linesOf(lines, chain)]))
  all.set(run, reseal(change(all.get(run)!)))
  const last = all.get(run)!.at(-1)!
  for (const [chain, entries] of all) {
    if (!isTenantChain(chain)) continue
    const told = entries.map((entry) =>
      entry.link.type === 'run.closed' && entry.data['run'] === run
        ? { ...entry, data: { ...entry.data, entries: last.link.seq, head: last.hash } }
        : entry,
    )
    all.set(chain, reseal(told))
  }
  const chains = Array.from(all, ([chain, entries]) => ({
    chain,
    entries: entries.length,
    hash: entries.at(-1)!.hash,
  }))
  const forged: ExportManifest = {
    ...manifest,
    chains,
    checkpoints: [],
    documents: documents?.(manifest.documents) ?? manifest.documents,
  }
  return [JSON.stringify(forged), ...[...all.values()].flat().map((entry) => JSON.stringify(entry))]
}

function reseal(entries: readonly Line[]): Line[] {
  let prev: string | null = null
  return entries.map((entry, index) => {
    const payload = sha(entry.salt + canonicalJson(entry.data))
    const link = { ...entry.link, seq: index + 1, payload, prev }
    prev = sha(writeLink(link))
    return { ...entry, link, hash: prev }
  })
}
