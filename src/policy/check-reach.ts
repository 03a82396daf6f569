import { coversGlob } from './compile-glob.ts'
import { toolsOf } from './compile-policy.ts'
import type { PolicyCheckContext } from './check-policy.ts'
import { constantOf } from './check-policy-conditions.ts'
import type { PolicyFile } from './policy-schema.ts'

type Precondition = PolicyFile['preconditions'][number]

/** More entries are not compared with each other: a hostile file could ask for billions of comparisons. */
const mostCompared = 2_000

/** Reports preconditions that never get to speak, because an earlier one always speaks first. */
export function checkReach({ file, report, wording }: PolicyCheckContext): void {
  const earlier: { readonly entry: Precondition; readonly index: number }[] = []
  for (const [index, entry] of file.preconditions.entries()) {
    const before = earlier.find((each) => shadows(each.entry, entry))
    if (before !== undefined) {
      const path = ['preconditions', index]
      const message = `${wording.owner(path)} never speaks: ${wording.owner(['preconditions', before.index])} always speaks before it`
      report('unreachable_rule', path, message, {
        suggestion: 'move it up, or give the earlier one a narrower `when`',
      })
    } else if (earlier.length < mostCompared && isCandidate(entry)) earlier.push({ entry, index })
  }
}

/** A precondition without a condition can keep others from speaking; one with a condition only its own copies. */
function isCandidate(entry: Precondition): boolean {
  return entry.when === undefined || constantOf(entry.when) === true || entry.when.length <= 1_000
}

function shadows(earlier: Precondition, later: Precondition): boolean {
  const always = earlier.when === undefined || /^\s*true\s*$/.test(earlier.when)
  if (!always && earlier.when !== later.when) return false
  if (earlier.step !== undefined && earlier.step !== later.step) return false
  const wide = toolsOf(earlier.tool)
  if (wide === null) return true
  const narrow = toolsOf(later.tool)
  return narrow !== null && narrow.every((pattern) => wide.some((each) => coversGlob(each, pattern)))
}
