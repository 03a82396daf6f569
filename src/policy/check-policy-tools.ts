import type { DocumentPath } from '../document/diagnostic.ts'
import { compileGlob } from './compile-glob.ts'
import { toolsOf } from './compile-policy.ts'
import type { PolicyCheckContext } from './check-policy.ts'

/** Reports names and patterns that fit no tool, where it is known which there are: such a rule would never bind. */
export function checkPolicyTools({ file, report, wording, tools, didYouMean }: PolicyCheckContext): void {
  if (tools === null) return
  const check = (pattern: string, path: DocumentPath): void => {
    if (tools.some(compileGlob(pattern))) return
    const place = wording.place(path)
    if (pattern.includes('*')) {
      const prefix = pattern.slice(0, pattern.indexOf('*'))
      const starts = new Set(tools.map((tool) => tool.slice(0, prefix.length)))
      report('unmatched_rule', path, `${place}: no tool fits \`${pattern}\``, didYouMean(prefix, starts))
    } else {
      report(
        'unknown_tool',
        path,
        `${place} names the tool \`${pattern}\`, which does not exist`,
        didYouMean(pattern, tools),
      )
    }
  }
  for (const list of ['rules', 'preconditions', 'freeze', 'limits', 'approvals'] as const) {
    for (const [index, { tool }] of file[list].entries()) checkScope(tool, [list, index, 'tool'], check)
  }
  checkScope(file.break_glass?.tool, ['break_glass', 'tool'], check)
  for (const [role, patterns] of Object.entries(file.tool_allowlist ?? {})) {
    checkScope(patterns, ['tool_allowlist', role], check)
  }
}

function checkScope(
  tool: string | readonly string[] | undefined,
  path: DocumentPath,
  check: (pattern: string, path: DocumentPath) => void,
): void {
  if (typeof tool === 'string') check(tool, path)
  else toolsOf(tool)?.forEach((pattern, index) => check(pattern, [...path, index]))
}
