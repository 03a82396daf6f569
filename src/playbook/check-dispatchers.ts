import type { DocumentPath } from '../document/diagnostic.ts'
import type { JsonObject } from '../shared/json.ts'
import { type CheckContext, stepPath } from './check-context.ts'
import { matchesName } from './match-name.ts'
import { placeholdersIn } from './placeholders-in.ts'
import type { StepDraft } from './playbook-draft.ts'

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
 * then allows everything such a tool can do. A call says its arguments itself, so far as no placeholder stands in them.
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
  const isOpen = (step: StepDraft, tool: string): boolean => {
    if (!dispatchers.has(tool) && !isNamedLikeDispatcher(tool)) return false
    const { schema, require } = Object.hasOwn(step.arguments, tool) ? step.arguments[tool]! : {}
    return schema === undefined && require === undefined && !isRuled(tool)
  }
  const warn = (path: DocumentPath, message: string) =>
    report('open_dispatcher', path, message, {
      severity: 'warning',
      suggestion: `add ${wording.key('arguments')} for it to the step, or a rule to ${wording.key('rules')}`,
    })
  for (const step of draft.steps) {
    if (step.broken('arguments')) continue
    step.expected_tools.forEach((tool, index) => {
      if (!isOpen(step, tool)) return
      const unsaid = `nothing says what they may be in ${wording.step(step.index)}`
      warn(
        stepPath(step, 'expected_tools', index),
        `\`${tool}\` does whatever its arguments say, and ${unsaid}`,
      )
    })
    for (const { tool, input, path } of callsOf(step)) {
      const [first] = placeholdersIn(input, path)
      if (first === undefined || !isOpen(step, tool)) continue
      const filled = `${wording.place(first)} puts into them what is only known when it runs`
      warn(first, `\`${tool}\` does whatever its arguments say, and ${filled}`)
    }
  }
}

interface WrittenCall {
  readonly tool: string
  readonly input: JsonObject
  readonly path: DocumentPath
}

/** The calls that the runtime makes in a step, as they are written. */
function* callsOf(step: StepDraft): Generator<WrittenCall> {
  const { tool, input, verify, compensate } = step
  if (tool !== null) yield { tool, input, path: stepPath(step, 'input') }
  if (verify !== null) yield { ...verify, path: stepPath(step, 'verify', 'input') }
  if (compensate !== null) yield { ...compensate, path: stepPath(step, 'compensate', 'input') }
}
