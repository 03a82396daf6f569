import type { DocumentPath } from '../document/diagnostic.ts'
import { mayMeet } from './compile-glob.ts'
import { toolsOf } from './compile-policy.ts'
import type { PolicyCheckContext } from './check-policy.ts'
import type { FreezeFile } from './policy-schema.ts'
import { overlaps, readOnce, readWeekly, type TimeWindow } from './time-window.ts'

/** More entries are not compared with each other: a hostile file could ask for billions of comparisons. */
const mostCompared = 500

/** Reports windows that are none, and windows that overlap for the same calls. */
export function checkFreeze(context: PolicyCheckContext): void {
  const { file, report, wording } = context
  const windows = file.freeze.map((entry, index) => checkWindow(context, entry, ['freeze', index]))
  for (let later = 1; later < Math.min(windows.length, mostCompared); later++) {
    for (let earlier = 0; earlier < later; earlier++) {
      const [a, b] = [file.freeze[earlier]!, file.freeze[later]!]
      const [one, other] = [windows[earlier]!, windows[later]!]
      if (one === null || other === null || !overlaps(one, other) || !mayConcernTheSame(a, b)) continue
      const message = `${wording.owner(['freeze', later])} overlaps with ${wording.owner(['freeze', earlier])}`
      const suggestion = 'join them, or end one where the other begins'
      report('overlapping_windows', ['freeze', later], message, { severity: 'warning', suggestion })
      break
    }
  }
}

function checkWindow(
  { report, wording }: PolicyCheckContext,
  entry: FreezeFile,
  path: DocumentPath,
): TimeWindow | null {
  const owner = wording.owner(path)
  const { weekly, from, to } = entry
  if (weekly !== undefined && (from !== undefined || to !== undefined)) {
    const key = from === undefined ? 'to' : 'from'
    report('conflicting_keys', [...path, key], `${owner} has both \`weekly\` and \`${key}\``, {
      at: 'key',
      suggestion: 'make two entries of it',
    })
    return null
  }
  if (weekly === undefined && (from === undefined || to === undefined)) {
    report('missing_key', path, `${owner} needs \`weekly\`, or \`from\` and \`to\``)
    return null
  }
  const period = weekly === undefined ? readOnce(from!, to!) : readWeekly(weekly)
  if ('kind' in period) return period
  const at = [...path, ...(weekly === undefined ? [] : ['weekly']), period.key]
  report('value_not_allowed', at, `${wording.place(at)} ${period.problem}`)
  return null
}

function mayConcernTheSame(one: FreezeFile, other: FreezeFile): boolean {
  if (one.then !== other.then || one.when !== other.when) return false
  if (one.step !== undefined && other.step !== undefined && one.step !== other.step) return false
  if (!one.risk.some((risk) => other.risk.includes(risk))) return false
  const [a, b] = [toolsOf(one.tool), toolsOf(other.tool)]
  return a === null || b === null || a.some((pattern) => b.some((each) => mayMeet(pattern, each)))
}
