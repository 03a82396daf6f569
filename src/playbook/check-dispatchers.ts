import { type CheckContext, stepPath } from './check-context.ts'
import { matchesName } from './match-name.ts'

/** Words of a tool that does whatever its arguments say. */
const dispatching: ReadonlySet<string> = new Set(
  'shell bash sh zsh powershell pwsh terminal subprocess sql psql query fetch curl wget eval exec'.split(' '),
)
/** Words that say nothing about what a tool is for. */
const empty: ReadonlySet<string> = new Set(
  'run execute do call use tool http https url web request db database raw any command cmd code script remote local'.split(
    ' ',
  ),
)

const mostComparisons = 1_000_000

/** Says whether a tool is named like one that does whatever its arguments say: `bash`, `run_sql`, `db.query`, not `fetch_order`. */
export function isNamedLikeDispatcher(tool: string): boolean {
  const names = [tool, tool.split(/[./]/).at(-1) ?? '']
  return names.some((name) => {
    const words = name
      .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
      .toLowerCase()
      .split(/[^a-z0-9]+/)
      .filter((word) => word !== '')
    return (
      words.some((word) => dispatching.has(word)) &&
      words.every((word) => dispatching.has(word) || empty.has(word))
    )
  })
}

/**
 * Warns of tools that do whatever their arguments say, where a step expects one and nothing says what the arguments may be: the step
 * then allows everything such a tool can do.
 */
export function checkDispatchers(context: CheckContext): void {
  const { draft, report, wording, dispatchers } = context
  if (draft.broken('rules')) return
  let left = mostComparisons
  const isRuled = (tool: string): boolean =>
    draft.rules.some((rule) => {
      left--
      // It is only a warning: when finding out has become too dear, the tool is taken to be ruled.
      return left < 0 || matchesName(rule.tool, tool)
    })
  for (const step of draft.steps) {
    if (step.broken('arguments')) continue
    step.expected_tools.forEach((tool, index) => {
      if (!dispatchers.has(tool) && !isNamedLikeDispatcher(tool)) return
      const { schema, require } = Object.hasOwn(step.arguments, tool) ? step.arguments[tool]! : {}
      if (schema !== undefined || require !== undefined || isRuled(tool)) return
      report(
        'open_dispatcher',
        stepPath(step, 'expected_tools', index),
        `\`${tool}\` does whatever its arguments say, and nothing says what they may be in ${wording.step(step.index)}`,
        {
          severity: 'warning',
          suggestion: `add ${wording.key('arguments')} for it to the step, or a rule to ${wording.key('rules')}`,
        },
      )
    })
  }
}
