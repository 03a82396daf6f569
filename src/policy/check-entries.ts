import type { PolicyCheckContext } from './check-policy.ts'
import { readDuration } from './read-duration.ts'

/** What is counted over other runs is kept so long, and no longer. */
export const longestWindowDays = 400

/** Reports ids that occur twice in one list, limits without a number or a time, and roles listed twice. */
export function checkEntries({ file, report, wording }: PolicyCheckContext): void {
  for (const list of ['rules', 'preconditions', 'freeze', 'limits', 'approvals'] as const) {
    const seen = new Set<string>()
    for (const [index, { id }] of file[list].entries()) {
      if (id === undefined) continue
      if (seen.has(id))
        report('duplicate_item', [list, index, 'id'], `there is an entry \`${id}\` in \`${list}\` already`)
      seen.add(id)
    }
  }
  for (const [index, limit] of file.limits.entries()) {
    const owner = wording.owner(['limits', index])
    if (limit.max_calls === undefined && limit.max_targets === undefined) {
      report('missing_key', ['limits', index], `${owner} needs \`max_calls\` or \`max_targets\``)
    }
    if (limit.per !== undefined && (readDuration(limit.per) ?? 0) > longestWindowDays * 86_400) {
      report('out_of_range', ['limits', index, 'per'], `${owner} looks back longer than calls are counted`, {
        suggestion: `${longestWindowDays}d is the longest`,
      })
    }
    if (limit.per === undefined && limit.scope !== 'run') {
      report('missing_key', ['limits', index], `${owner} needs \`per\``, {
        suggestion: 'say in how much time, such as `per: 1h`, or count within one run with `scope: run`',
      })
    }
  }
  if (
    file.tool_allowlist !== undefined &&
    Object.values(file.tool_allowlist).every((tools) => tools.length === 0)
  ) {
    report(
      'impossible_rule',
      ['tool_allowlist'],
      '`tool_allowlist` names no tool, so that nothing could ever be called',
      {
        at: 'key',
        suggestion: 'leave it out to allow every tool, or name some',
      },
    )
  }
}
