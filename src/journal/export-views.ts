import { canonicalJson } from '../shared/canonical-json.ts'
import type { JsonObject } from '../shared/json.ts'
import type { ReadEntry } from './read-export.ts'

/** What stands in an export in the place of a withheld payload, and the hash of the entry it belongs to. */
export interface ShownView {
  readonly hash: string
  readonly view: JsonObject
}

/** The text that is signed for all views of an export, whatever their order. Its first line keeps the signature from meaning anything else. */
export function viewsText(views: readonly ShownView[], hash: (text: string) => string): string {
  const lines = views.map(({ hash: entry, view }) => `${entry} ${hash(canonicalJson(view))}`)
  return `lockstep views\n${lines.sort().join('\n')}`
}

/** What an export shows in the place of withheld payloads, and where. Without a chain nothing is bound to an entry, so nothing is given. */
export function shownViews(
  chains: ReadonlyMap<string, readonly ReadEntry[]>,
): readonly (ShownView & { readonly chain: string; readonly seq: number })[] {
  return Array.from(chains, ([chain, entries]) =>
    entries.flatMap(({ link: { seq }, hash, salted, view }) =>
      hash === null || salted !== null || view === null ? [] : [{ chain, seq, hash, view }],
    ),
  ).flat()
}
