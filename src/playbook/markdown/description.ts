import type { MarkdownText } from '../../document/markdown-block.ts'
import type { Computation } from '../program.ts'
import type { Callables } from './callables.ts'
import type { Findings } from './findings.ts'
import { joinTexts } from './join-texts.ts'
import { type Scope, isKnown } from './scope.ts'
import { readTemplate } from './text-template.ts'

/** The description of an agent or a playbook as a template; braces that begin no expression stay, with a note. */
export function readDescription(
  texts: readonly MarkdownText[],
  context: {
    readonly callables: Callables
    readonly agent: string
    /** Whose it is: an agent's makes no calls. */
    readonly of: 'agent' | 'playbook'
    readonly scope: Scope
    readonly findings: Findings
  },
): Computation {
  if (texts.length === 0) return { form: 'template', source: '', calls: [] }
  const { findings, scope } = context
  const text = joinTexts(texts)
  const read = readTemplate(text.text, {
    callables: context.callables,
    agent: context.agent,
    dollars: false,
    isName: (name, sigil) => isKnown(scope, name, sigil),
  })
  for (const { code, message, suggestion, start, end } of read.problems)
    findings.error(code, { text, start, end }, message, suggestion)
  for (const { name, sigil, start, end } of read.names) {
    if (!isKnown(scope, name, sigil))
      findings.error('unset_variable', { text, start, end }, `nothing sets \`${sigil ? '$' : ''}${name}\``)
  }
  for (const { start, end, text: brace } of read.braces.slice(0, 3)) {
    findings.warn(
      'literal_brace',
      { text, start, end },
      `\`${brace.replace(/\s+/g, ' ')}\` is no placeholder and stays as it is`,
      'write `{{` for a brace',
    )
  }
  if (context.of === 'agent' && read.computation.calls.length > 0) {
    findings.warn(
      'misplaced_call',
      { text },
      'the description of an agent makes no calls, so no model is told of it',
      'call it in a step, and use the variable',
    )
  }
  for (const name of context.of === 'agent' ? [] : irreversible(read.computation, context.callables)) {
    findings.warn(
      'misplaced_call',
      { text },
      `the description calls \`${name}\`, which cannot be undone, each time the playbook begins`,
      'call it in a step, where everybody sees it',
    )
  }
  return read.computation
}

/** The tools among the calls that cannot be undone. */
function irreversible({ calls }: Computation, callables: Callables): readonly string[] {
  const names = new Set(calls.flatMap(({ target }) => (target.kind === 'tool' ? [target.name] : [])))
  // Each look takes in everything that can be called; most descriptions call nothing.
  if (names.size === 0) return []
  return callables.all
    .filter(({ target, risk }) => target.kind === 'tool' && risk === 'irreversible' && names.has(target.name))
    .map(({ name }) => name)
}
