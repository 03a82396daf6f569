import { escapeControl } from '../shared/escape-control.ts'
import type { Compared, Standing } from '../source/compare-library.ts'
import type { PublishedVersion } from '../source/library.ts'

/** What is done with a tree: it is published, what would be is shown, or how it stands. */
export type ApplyMode = 'apply' | 'dry-run' | 'status'

/** A tree and what is published as people read it: a line for each name, then a sentence. */
export function describeCompared(
  compared: readonly Compared[],
  mode: ApplyMode,
  commit: string | null,
): string {
  const rows = compared.map(({ standing, kind, name, digest, path, published }) => {
    const short = digest.slice('sha256:'.length).slice(0, 12)
    return [standing, kind, name, short, path + inItsPlace(standing, published)].map(escapeControl)
  })
  const widths = [0, 1, 2].map((column) => Math.max(0, ...rows.map((row) => row[column]!.length)))
  const lines = rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
  return [...lines, sentence(compared, mode, commit)].map((line) => `${line}\n`).join('')
}

/** What is published where the tree differs. */
function inItsPlace(standing: Standing, published: PublishedVersion | null): string {
  if (published === null || standing === 'unchanged') return ''
  const { commit, by, at } = published
  const from = commit === null ? 'no commit' : commit.replace(/^([0-9a-f]{12})[0-9a-f]*/, '$1')
  return `  (published: ${from}, ${at.slice(0, 10)}, by ${by})`
}

function sentence(compared: readonly Compared[], mode: ApplyMode, commit: string | null): string {
  const count = (standing: Standing) => compared.filter((each) => each.standing === standing).length
  const [fresh, changed, same, gone] = [count('new'), count('changed'), count('unchanged'), count('gone')]
  if (mode === 'status')
    return fresh + changed + gone === 0
      ? `No drift: ${same} unchanged.`
      : `Drift: ${fresh} new, ${changed} changed, ${gone} gone; ${same} unchanged.`
  const left = gone === 0 ? '' : ` ${gone} gone from here, and still published.`
  if (fresh + changed === 0) return `Nothing to publish: ${same} unchanged.${left}`
  const did = mode === 'apply' ? 'Published' : 'DRY RUN, nothing is published. It would be'
  const from = commit === null ? 'without a commit' : `from commit ${commit}`
  return `${did} ${fresh} new, ${changed} changed, ${from}; ${same} unchanged.${left}`
}
