import type { DocumentPath } from '../document/diagnostic.ts'
import { type CheckContext, closedTools, stepPath } from './check-context.ts'
import { matchesName } from './match-name.ts'
import type { StepDraft } from './playbook-draft.ts'

const mostComparisons = 1_000_000

/** Reports tools that do not exist, rules that bind no tool, and a limit on extras where there are none. */
export function checkTools(context: CheckContext): void {
  const { draft, report, wording, tools, alone, didYouMean } = context
  if (tools !== null) {
    for (const step of draft.steps) {
      step.expected_tools.forEach((tool, index) => {
        if (tool === '*' || tools.has(tool)) return
        const message = `${wording.step(step.index)} expects the tool \`${tool}\`, which does not exist`
        report('unknown_tool', stepPath(step, 'expected_tools', index), message, didYouMean(tool, tools))
      })
      for (const [path, tool] of callPlaces(step)) {
        if (tool === undefined || tools.has(tool)) continue
        const message = `${wording.step(step.index)} calls the tool \`${tool}\`, which does not exist`
        report('unknown_tool', stepPath(step, ...path), message, didYouMean(tool, tools))
      }
    }
  }
  if (alone) return
  const callable = closedTools(context) ?? tools
  if (callable === null || draft.broken('rules')) return
  let left = mostComparisons
  const bindsSome = (pattern: string): boolean => {
    if (!pattern.includes('*')) return callable.has(pattern)
    left -= callable.size
    // It is only a warning: when finding out has become too dear, the rule is taken to bind something.
    return left < 0 || [...callable].some((tool) => matchesName(pattern, tool))
  }
  draft.rules.forEach((rule, index) => {
    if (bindsSome(rule.tool)) return
    report(
      'unmatched_rule',
      ['rules', index, 'tool'],
      `rule ${index + 1} is for \`${rule.tool}\`, and no tool of the playbook has such a name`,
      {
        // Where no extra may be called it can never bind; where extras may, one of that name might yet come.
        severity: closedTools(context) === null ? 'warning' : 'error',
        ...didYouMean(rule.tool, callable),
      },
    )
  })
  if (draft.max_extra_calls !== null && closedTools(context) !== null && !draft.broken('max_extra_calls')) {
    report(
      'no_effect',
      ['max_extra_calls'],
      `${wording.key('max_extra_calls')} has no effect: no extra tool may be called`,
      {
        severity: 'warning',
        at: 'key',
        suggestion: `set ${wording.key('allow_extra_tools')}, or remove it`,
      },
    )
  }
}

/** Where a step names the tools that the runtime calls. */
function callPlaces({ tool, verify, compensate }: StepDraft): readonly [DocumentPath, string | undefined][] {
  return [
    [['tool'], tool ?? undefined],
    [['verify', 'tool'], verify?.tool],
    [['compensate', 'tool'], compensate?.tool],
  ]
}
